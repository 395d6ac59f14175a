/** Starts the operator's page. */

import { start } from "./desk.js";

start();
