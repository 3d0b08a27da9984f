import type { ConversionRules, FieldRule, VersionRules } from '../conversion-rules.ts';
import type { RoundTripFailure } from './prove-round-trips.ts';

/**
 * The rule that a failure is about, as a pointer into the rules: `/versions/0/fields/1/here`. Without such a rule it is the version,
 * without an entry for the version the list of them.
 */
export function placeOfFailure(rules: ConversionRules, failure: RoundTripFailure): string {
  const [version = '', other = ''] = failure.path;
  const where = failure.kind === 'required' ? other : version;
  const side = where === rules.hub ? 'there' : 'here';
  const isOfRules = ({ version: each }: VersionRules) =>
    where === rules.hub ? [version, other].includes(each) : each === where;
  const index = rules.versions.findIndex(isOfRules);
  if (index < 0) return '/versions';
  const fields = rules.versions[index]?.fields ?? [];
  const found = failure.fields.map((field) => ruleFor(field, fields, side)).find((at) => at >= 0);
  if (found === undefined) return `/versions/${index}`;
  return `/versions/${index}/fields/${found}/${failure.kind === 'meaning' ? 'values' : side}`;
}

/** The index of the rule for a field or for the value that it is part of; -1: there is none. */
function ruleFor(field: string, rules: readonly FieldRule[], side: 'here' | 'there'): number {
  const place = field.replaceAll(/\[[^\]]*\]/g, '[]');
  return rules.findIndex((rule) => {
    const path = rule[side];
    return place === path || place.startsWith(`${path}.`) || place.startsWith(`${path}[`);
  });
}
