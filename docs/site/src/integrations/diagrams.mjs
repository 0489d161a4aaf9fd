// Draws the blocks of Graphviz's language as pictures, which take their colours from the page.
import { h } from "@expressive-code/core/hast";
import { instance } from "@viz-js/viz";
import { fromHtml } from "hast-util-from-html";

const viz = await instance();
// What readers see is a picture that scales; its own colours, which fit no dark page, are left to the style sheet.
const attributes = {
  graphAttributes: { bgcolor: "transparent", nodesep: 0.35, ranksep: 0.5, fontname: "sans-serif" },
  nodeAttributes: { shape: "box", style: "rounded", fontname: "sans-serif", fontsize: 13, margin: "0.18,0.1" },
  edgeAttributes: { fontname: "sans-serif", fontsize: 11, arrowsize: 0.7 },
};

export const diagrams = {
  name: "diagrams",
  hooks: {
    postprocessRenderedBlock: ({ codeBlock, renderData }) => {
      if (codeBlock.language === "dot") {
        const svg = viz.renderString(codeBlock.code, { format: "svg", ...attributes });
        const label = codeBlock.metaOptions.getString("title");
        renderData.blockAst = h("figure", { class: "diagram", role: "img", "aria-label": label }, fromHtml(svg.slice(svg.indexOf("<svg")), { fragment: true, space: "svg" }).children);
      }
    },
  },
};
