export { type FieldQuery, type ObjectTest, parseFieldQuery } from './field-query.ts';
export { type LabelTest, parseLabelQuery, SelectorError } from './label-query.ts';
export { labelSelectorText } from './label-selector-text.ts';
