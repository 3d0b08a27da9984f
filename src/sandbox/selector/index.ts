export { type FieldQuery, type ObjectMatcher, parseFieldQuery } from './field-query.ts';
export {
  type LabelMatcher,
  labelSelectorText,
  parseLabelQuery,
  SelectorError,
} from './label-query.ts';
