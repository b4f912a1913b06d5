// Any of the author's options, or none of them: that and no answer each stand alone.

import { ours } from "../dom.js";
import { labelled, noAnswer, option, tickable, ticked } from "../options.js";

/** @import { FormType } from "../controls.js" */

/** @type {FormType} */
export const multiple = {
	control(question) {
		const { id, optional } = question;
		const options = labelled("checkbox", question);
		const alone = [option("checkbox", id, [], ours("span", "none"))];
		if (optional) alone.push(noAnswer("checkbox", id));
		const all = [...options, ...alone];
		for (const one of all) {
			one.input.addEventListener("change", () => {
				const others = alone.includes(one) ? all : alone;
				for (const other of others) if (other !== one) other.input.checked = false;
			});
		}
		const read = () => {
			const chosen = ticked(options).flatMap(({ answer }) => answer ?? []);
			return chosen.length > 0 ? chosen : ticked(alone)[0]?.answer;
		};
		return { ...tickable(all, read), hint: ["several"] };
	},
	rounding: () => "",
};
