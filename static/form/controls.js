// The controls of a question: its type provides the inputs, and reads the answer from them.

import * as types from "./types/index.js";

/** @import { Question, Values } from "/client/js/question.js" */
/** @import { Leaf } from "./dom.js" */
/** @import { Asked } from "./language.js" */
/** @typedef {string | string[] | null | undefined} Said undefined if there is no answer that fits */
/** @typedef {[key: string, values?: Values]} Line one of our strings */

/**
 * The inputs of a question, and how to read them.
 * @typedef {object} Control
 * @property {Leaf[]} nodes
 * @property {HTMLInputElement[]} inputs
 * @property {() => boolean} empty whether nothing is ticked or typed
 * @property {() => Said} read
 * @property {() => Line} wrong the error if there is no answer that fits
 * @property {Line | null} hint
 */
/**
 * The form's part of a question type: its inputs, with an id for their descriptions, and a sentence on how its answers are
 * rounded before they are randomized, which may be empty.
 * @typedef {{ control(question: Asked, id: string): Control, describeRounding(question: Question): string }} FormType
 */

/** @type {Record<string, FormType>} */
const byName = types;

/**
 * Return the form's part of a question's type.
 * @param {Question} question
 */
export const formType = ({ type }) => byName[type];
