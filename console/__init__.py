"""The operators' console: who may log in and how, what each role may do, and the pages that belong to no other app.

Enters: requests of operators to the console's own process. Leaves: pages. Owns the table of failed logins, and fills
Django's groups with the roles.
"""
