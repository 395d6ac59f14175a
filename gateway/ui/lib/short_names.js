/** Short names of an event's questions: what the catalog says, else the part in which they differ. */

/**
 * @param {{ question: string, groupItemTitle?: string }[]} records
 * @returns {string[]}
 */
export function shortNames(records) {
  const questions = records.map((record) => record.question.split(/\s+/));
  const start = shared(questions);
  const end = shared(questions.map((words) => words.slice(start).reverse()));
  const parts = questions.map((words) => words.slice(start, words.length - end));
  // What differs is a name only while it is the smaller part of a question.
  const areNames = records.length > 1 && parts.every((part, i) => part.length > 0 && part.length * 2 <= questions[i].length);
  return records.map((record, i) => record.groupItemTitle || (areNames ? capital(parts[i].join(" ")) : record.question));
}

/**
 * Number of words with which all begin.
 * @param {string[][]} texts
 */
function shared(texts) {
  const [first = []] = texts;
  const differs = first.findIndex((word, i) => texts.some((words) => words[i] !== word));
  return differs < 0 ? first.length : differs;
}

/** @param {string} text */
const capital = (text) => (text.charAt(0).toUpperCase() + text.slice(1)).replace(/[?.]$/, "");
