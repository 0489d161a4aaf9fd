"""Others' data that the service needs at run time, made small from a pinned source. What is made here is committed."""
