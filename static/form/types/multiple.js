// The controls of a multiple: any of the author's options. "None of them" and "no answer" exclude all others.

import { textEl } from "../dom.js";
import { labelOptions, listTicked, noAnswer, option, tickable } from "../options.js";

/** @import { FormType } from "../controls.js" */

/** @type {FormType} */
export const multiple = {
	control(question) {
		const { id, optional } = question;
		const options = labelOptions("checkbox", question);
		const alone = [option("checkbox", id, [], textEl("span", "none"))];
		if (optional) alone.push(noAnswer("checkbox", id));
		const all = [...options, ...alone];
		for (const item of all) {
			item.input.addEventListener("change", () => {
				const excluded = alone.includes(item) ? all : alone;
				for (const other of excluded) if (other !== item) other.input.checked = false;
			});
		}
		const read = () => {
			const labels = listTicked(options).flatMap(({ answer }) => answer ?? []);
			return labels.length > 0 ? labels : listTicked(alone)[0]?.answer;
		};
		return { ...tickable(all, read), hint: ["several"] };
	},
	describeRounding: () => "",
};
