// How a question is asked: its type has the inputs, and reads what was ticked or typed.

import * as types from "./types/index.js";

/** @import { Question, Values } from "/client/js/question.js" */
/** @import { Leaf } from "./dom.js" */
/** @import { Asked } from "./language.js" */
/** @typedef {string | string[] | null | undefined} Said undefined while there is no answer that fits */
/** @typedef {[key: string, values?: Values]} Line one of our strings */

/**
 * The inputs of a question, and how to read them.
 * @typedef {object} Control
 * @property {Leaf[]} nodes
 * @property {HTMLInputElement[]} inputs
 * @property {() => boolean} empty whether nothing is ticked or typed
 * @property {() => Said} read
 * @property {() => Line} wrong what to say when nothing that fits was read
 * @property {Line | null} hint
 */
/**
 * What the form knows of a type: its inputs, with an id for what describes them, and how its answers are rounded before
 * chance does anything, if they are.
 * @typedef {{ control(question: Asked, id: string): Control, rounding(question: Question): string }} FormType
 */

/** @type {Record<string, FormType>} */
const byName = types;

/**
 * Return what the form knows of a question's type.
 * @param {Question} question
 */
export const formType = ({ type }) => byName[type];
