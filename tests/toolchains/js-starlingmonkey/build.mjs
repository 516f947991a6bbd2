// Builds a component out of a listener with StarlingMonkey: FILE, folder of the WIT, world, and where it goes.

import { writeFile } from "node:fs/promises";
import { componentize } from "@bytecodealliance/componentize-js";

const [sourcePath, witPath, worldName, out] = process.argv.slice(2);
const { component } = await componentize({ sourcePath, witPath, worldName });
await writeFile(out, component);
