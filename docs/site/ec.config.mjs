// How blocks of code are shown; in a file of its own, because pages that show code of their own making read it, too.
import { world } from "./src/integrations/world.mjs";

export default { plugins: [world], defaultProps: { wrap: true } };
