// Copies the text of the element that a button names, and says so on the button.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copies]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copies);
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
  } catch {
    // Browsers keep the clipboard from pages without TLS: select the text, so that the keys for copying work.
    getSelection().selectAllChildren(text);
    button.textContent = "Selected: copy it with your keys";
  }
});
