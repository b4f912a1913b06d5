// The moment a survey opens, on the reader's own clock.

import { moment } from "./strings.js";

for (const time of document.querySelectorAll("time")) time.textContent = moment(time.dateTime);
