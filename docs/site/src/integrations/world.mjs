// Puts the variables of a running world into the blocks that export them, so that readers of a local site copy what works there.
import { readFileSync } from "node:fs";

export const world = {
  name: "world",
  hooks: {
    preprocessCode: ({ codeBlock }) => {
      const file = process.env.WORLD_ENV;
      if (file && codeBlock.code.startsWith("export BASE_URL=")) {
        const placeholders = codeBlock.getLines().map((_, index) => index);
        codeBlock.insertLines(0, readFileSync(file, "utf8").trimEnd().split("\n"));
        codeBlock.deleteLines(placeholders.map((index) => codeBlock.getLines().length - 1 - index));
      }
    },
  },
};
