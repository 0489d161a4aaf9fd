"""The form of actions that need a reason, which the log keeps."""

from django import forms
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextareaWidget


class ReasonForm(BaseDialogForm):
    """Why operators intervene."""

    reason = forms.CharField(max_length=500, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}))
