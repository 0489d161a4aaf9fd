// Takes the slash off the links to the errors, which are a page of the service and not of this site.
import { defineRouteMiddleware } from "@astrojs/starlight/route-data";

export const onRequest = defineRouteMiddleware(({ locals }) => {
  const { sidebar, pagination } = locals.starlightRoute;
  for (const link of [...linksIn(sidebar), pagination.prev, pagination.next]) {
    if (link?.href === "/docs/errors/") {
      link.href = "/docs/errors";
    }
  }
});

function linksIn(entries) {
  return entries.flatMap((entry) => (entry.type === "link" ? [entry] : linksIn(entry.entries)));
}
