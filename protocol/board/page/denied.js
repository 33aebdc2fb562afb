// The page of a browser that has not opened the start address: its texts.

import { fillPage } from "./text.js";

fillPage();
