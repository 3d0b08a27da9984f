import { nearestName } from '#util/did-you-mean.ts';
import type { FieldRule } from './conversion-rules.ts';
import type { Pairing, Path, PlacedRule, Side } from './pairing.ts';
import { eachItem, rulePathText } from './rule-path.ts';
import { fieldNode, type ListNode, type ScalarNode, type SchemaNode } from './schema-node.ts';
import { formOfRule, type ValueForm } from './value-forms.ts';

/** Reports a problem of one rule. */
export type ReportRule = (field: string, message: string, hint?: string) => void;

export interface RuleCheck {
  readonly pairing: Pairing;
  /** Names of the version and of the hub, for messages. */
  readonly names: Readonly<Record<Side, string>>;
}

/** Checks one rule: its paths exist, their lists belong together, and it can carry their types. */
export function checkRule(rule: PlacedRule, check: RuleCheck, report: ReportRule): void {
  const sides = ['here', 'there'] as const;
  const exist = sides.map((side) => checkPath(rule, side, check, report));
  if (exist.includes(false)) return;
  if (!checkLists(rule, check, report)) return;
  const here = check.pairing.nodeAt('here', rule.here);
  const there = check.pairing.nodeAt('there', rule.there);
  if (here !== undefined && there !== undefined) checkTypes(rule.rule, here, there, report);
}

function checkPath(rule: PlacedRule, side: Side, check: RuleCheck, report: ReportRule): boolean {
  const path = rule[side];
  if (check.pairing.nodeAt(side, path) !== undefined) return true;
  const hint = nearestPath(path, side, check.pairing);
  const message = `Version "${check.names[side]}" has no field "${rulePathText(path)}"`;
  report(side, message, hint && `Did you mean "${hint}"?`);
  return false;
}

/** The path with a similar name instead of the first one that does not exist. */
export function nearestPath(path: Path, side: Side, pairing: Pairing): string | undefined {
  for (let length = 1; length <= path.length; length++) {
    const parent = pairing.nodeAt(side, path.slice(0, length - 1));
    const step = path[length - 1];
    if (parent === undefined || step === undefined) return undefined;
    if (pairing.nodeAt(side, path.slice(0, length)) !== undefined) continue;
    if (parent.kind === 'list' || typeof step !== 'string')
      return parent.kind === 'list' ? `${rulePathText(path.slice(0, length - 1))}[]` : undefined;
    const name = parent.kind === 'object' ? nearestName(step, parent.fields.keys()) : undefined;
    return name && rulePathText([...path.slice(0, length - 1), name, ...path.slice(length)]);
  }
  return undefined;
}

/** The n-th list of one path must be the n-th list of the other one. */
function checkLists(rule: PlacedRule, { pairing }: RuleCheck, report: ReportRule): boolean {
  const lists = (path: Path) =>
    path.flatMap((step, index) => (step === eachItem ? [path.slice(0, index)] : []));
  const there = lists(rule.there);
  for (const [index, list] of lists(rule.here).entries()) {
    const other = there[index] ?? [];
    const expected = pairing.otherPath('here', list);
    if (expected !== undefined && rulePathText(expected) === rulePathText(other)) continue;
    report(
      'there',
      `"${rulePathText(list)}" and "${rulePathText(other)}" are different lists`,
      `Add a rule { here: ${rulePathText(list)}, there: ${rulePathText(other)} } if they are the same`,
    );
    return false;
  }
  return true;
}

function checkTypes(rule: FieldRule, here: SchemaNode, there: SchemaNode, report: ReportRule) {
  const form = formOfRule(rule);
  if (form.kind === 'table') {
    checkTable(rule.values ?? {}, here, there, report);
    return;
  }
  if (form.kind === 'copy') {
    if (!areCompatible(here, there))
      report('there', `A rule without "as" cannot carry ${typeName(here)} to ${typeName(there)}`);
    return;
  }
  const [first, second] = expected[form.kind];
  const named = form as { readonly field?: string };
  if (!first.is(here, named.field))
    report('as', `"${form.kind}" needs ${first.name} in "here", found ${typeName(here)}`);
  if (!second.is(there, named.field))
    report('as', `"${form.kind}" needs ${second.name} in "there", found ${typeName(there)}`);
}

interface Expected {
  readonly name: string;
  is(node: SchemaNode, field: string | undefined): boolean;
}

const textType: Expected = { name: 'a text', is: (node) => isScalar(node, ['string']) };
const numberType: Expected = {
  name: 'a number',
  is: (node) => isScalar(node, ['integer', 'number', 'int-or-string']),
};
const yamlType: Expected = { name: 'an object or a list', is: (node) => node.kind !== 'scalar' };
const textsType: Expected = {
  name: 'a list of texts',
  is: (node) => node.kind === 'list' && isScalar(node.item, ['string']),
};
const objectsType: Expected = {
  name: 'a list of objects with its field as a text',
  is: (node, field = '') => {
    const found = node.kind === 'list' ? fieldNode(node.item, field) : undefined;
    return found !== undefined && (found.kind === 'any' || isScalar(found, ['string']));
  },
};
const mapType: Expected = {
  name: 'a map of objects',
  is: (node) => node.kind === 'map' && (node.item.kind === 'object' || node.item.kind === 'any'),
};

const expected: Readonly<
  Record<Exclude<ValueForm['kind'], 'copy' | 'table'>, readonly [Expected, Expected]>
> = {
  durationToSeconds: [textType, numberType],
  secondsToDuration: [numberType, textType],
  textToYaml: [textType, yamlType],
  yamlToText: [yamlType, textType],
  itemsToObjects: [textsType, objectsType],
  objectsToItems: [objectsType, textsType],
  mapToList: [mapType, objectsType],
  listToMap: [objectsType, mapType],
};

function checkTable(
  table: Readonly<Record<string, string>>,
  here: SchemaNode,
  there: SchemaNode,
  report: ReportRule,
): void {
  for (const [side, node] of [
    ['here', here],
    ['there', there],
  ] as const)
    if (!isScalar(node, ['string'])) {
      report('values', `"values" needs a text in "${side}", found ${typeName(node)}`);
      return;
    }
  const seen = new Map<string, string>();
  for (const [from, to] of Object.entries(table)) {
    const other = seen.get(to);
    if (other !== undefined)
      report('values', `Values "${other}" and "${from}" both become "${to}": one of them is lost`);
    seen.set(to, from);
    if (!mayBe(here, from)) report('values', `Value "${from}" is not in the enum of "here"`);
    if (!mayBe(there, to)) report('values', `Value "${to}" is not in the enum of "there"`);
  }
  const missing = (valuesOf(here) ?? []).filter(
    (value) => typeof value === 'string' && !Object.hasOwn(table, value),
  );
  for (const value of missing)
    report(
      'values',
      `Value "${String(value)}" of "here" has no value in "there"`,
      'Add it to "values"',
    );
}

function valuesOf(node: SchemaNode): readonly unknown[] | undefined {
  return node.kind === 'scalar' ? node.values : undefined;
}

function mayBe(node: SchemaNode, value: string): boolean {
  return valuesOf(node)?.includes(value) ?? true;
}

function isScalar(node: SchemaNode, types: readonly ScalarNode['type'][]): boolean {
  return node.kind === 'any' || (node.kind === 'scalar' && types.includes(node.type));
}

/** Are values of the one usually values of the other? */
export function areCompatible(a: SchemaNode, b: SchemaNode): boolean {
  if (a.kind === 'any' || b.kind === 'any') return true;
  if (a.kind === 'scalar' && b.kind === 'scalar') return areCompatibleTypes(a.type, b.type);
  if ((a.kind === 'list' || a.kind === 'map') && b.kind === a.kind)
    return areCompatible(a.item, b.item);
  return a.kind === b.kind;
}

function areCompatibleTypes(a: ScalarNode['type'], b: ScalarNode['type']): boolean {
  if (a === b) return true;
  const pair = [a, b];
  if (pair.includes('int-or-string')) return pair.includes('integer') || pair.includes('string');
  return pair.includes('integer') && pair.includes('number');
}

/** The type of a field, for messages. */
export function typeName(node: SchemaNode): string {
  switch (node.kind) {
    case 'any':
      return 'any value';
    case 'scalar':
      return {
        string: 'a text',
        integer: 'an integer',
        number: 'a number',
        boolean: 'a boolean',
        'int-or-string': 'an integer or text',
      }[node.type];
    case 'list':
      return `a list of ${itemName(node)}`;
    case 'map':
      return 'a map';
    case 'object':
      return 'an object';
  }
}

function itemName({ item }: ListNode): string {
  if (item.kind === 'scalar')
    return {
      string: 'texts',
      integer: 'integers',
      number: 'numbers',
      boolean: 'booleans',
      'int-or-string': 'integers or texts',
    }[item.type];
  return item.kind === 'object' ? 'objects' : 'values';
}

/** Rules of one version that write the same place, or a place inside of a value that another rule writes. */
export function checkOverlaps(
  rules: readonly PlacedRule[],
  report: (rule: PlacedRule, field: string, message: string) => void,
): void {
  for (const side of ['here', 'there'] as const) {
    const byPath = new Map<string, PlacedRule>();
    for (const rule of rules) {
      const text = rulePathText(rule[side]);
      const first = byPath.get(text);
      if (first !== undefined) report(rule, side, `Rule ${first.index + 1} has "${text}", too`);
      else byPath.set(text, rule);
    }
    for (const rule of rules) checkInside(rule, side, byPath, report);
  }
}

/** Only a copied object, list or map may have rules for its parts; of a map that becomes a list, those for its items. */
function checkInside(
  rule: PlacedRule,
  side: Side,
  byPath: ReadonlyMap<string, PlacedRule>,
  report: (rule: PlacedRule, field: string, message: string) => void,
): void {
  for (let length = rule[side].length - 1; length > 0; length--) {
    const outer = byPath.get(rulePathText(rule[side].slice(0, length)));
    if (outer === undefined) continue;
    const form = formOfRule(outer.rule).kind;
    const isByKey =
      (form === 'mapToList' || form === 'listToMap') && rule[side][length] === eachItem;
    if (form !== 'copy' && !isByKey)
      report(
        rule,
        side,
        `"${rulePathText(rule[side])}" is part of "${rulePathText(outer[side])}", which rule ${outer.index + 1} converts as a whole`,
      );
    return;
  }
}
