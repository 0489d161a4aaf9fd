// Starts Swagger UI on the reference page; a file of its own, since the page's policy allows no inline script.
"use strict";

const element = document.getElementById("reference");

SwaggerUIBundle({
  domNode: element,
  url: element.dataset.document,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  // The default would send the document to an outside validator.
  validatorUrl: null,
});
