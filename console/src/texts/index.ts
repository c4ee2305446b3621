// All texts of the console, by page. Sentences with values are functions; numbers and dates are formatted by `ui/format.ts`.
// A name and no object: so each page loads the texts that it uses, and not those of the others.
export * as t from './catalogue.ts';
