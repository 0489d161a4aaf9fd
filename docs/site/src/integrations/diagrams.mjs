// Draws the blocks of Graphviz's language as pictures, which take their colours from the page.
import { h } from "@expressive-code/core/hast";
import { instance } from "@viz-js/viz";
import { fromHtml } from "hast-util-from-html";

const viz = await instance();
// The font is one whose widths Graphviz knows.
const attributes = {
  graphAttributes: { bgcolor: "transparent", nodesep: 0.35, ranksep: 0.5, fontname: "Arial" },
  nodeAttributes: { shape: "box", style: "rounded", fontname: "Arial", fontsize: 13, margin: "0.18,0.1" },
  edgeAttributes: { fontname: "Arial", fontsize: 11, arrowsize: 0.7 },
};

export const diagrams = {
  name: "diagrams",
  hooks: {
    postprocessRenderedBlock: ({ codeBlock, renderData }) => {
      if (codeBlock.language === "dot") {
        const svg = viz.renderString(codeBlock.code, { format: "svg", ...attributes });
        const label = codeBlock.metaOptions.getString("title");
        const { children } = fromHtml(svg.slice(svg.indexOf("<svg")), { fragment: true, space: "svg" });
        renderData.blockAst = h("figure", { class: "diagram", role: "img", "aria-label": label, tabindex: 0 }, children);
      }
    },
  },
};
