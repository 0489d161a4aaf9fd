// How blocks of code are shown; in a file of its own, because pages that show code of their own making read it, too.
import { diagrams } from "./src/integrations/diagrams.mjs";
import { world } from "./src/integrations/world.mjs";

export default { plugins: [world, diagrams], defaultProps: { wrap: true } };
