import { nearestName } from '#util/did-you-mean.ts';
import { pointerTo } from '#util/json.ts';
import { namedForms } from './conversion-rules.ts';
import { otherSide, type Pairing, type Path, type PlacedRule, type Side } from './pairing.ts';
import { eachItem, inOwnNotation, parseRulePath, rulePathText } from './rule-path.ts';
import {
  fieldNode,
  type ListNode,
  type MapNode,
  type ScalarNode,
  type SchemaNode,
} from './schema-node.ts';
import { formOfRule, type ValueForm } from './value-forms.ts';

/** Reports a problem of one rule. */
export type ReportRule = (field: string, message: string, hint?: string, at?: 'key') => void;

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
  if (here !== undefined && there !== undefined) checkTypes(rule, { here, there }, check, report);
}

function checkPath(rule: PlacedRule, side: Side, check: RuleCheck, report: ReportRule): boolean {
  const path = rule[side];
  if (check.pairing.nodeAt(side, path) !== undefined) return true;
  const nearest =
    nearestPath(path, side, check.pairing) ??
    ownNotation(rule, side, check) ??
    belowRoot(path, side, check);
  const message = `Version "${check.names[side]}" has no field "${rulePathText(path)}"`;
  const hint = nearest === undefined ? swapHint(path, side, check) : `Did you mean "${nearest}"?`;
  report(side, message, hint);
  return false;
}

/** The path of a field, written as in another tool. */
function ownNotation({ rule }: PlacedRule, side: Side, { pairing }: RuleCheck): string | undefined {
  const text = inOwnNotation(rule[side]);
  const path = text === undefined ? undefined : parseRulePath(text);
  return path !== undefined && pairing.nodeAt(side, path) !== undefined ? text : undefined;
}

/** The path without the field of the root that it is in. */
function belowRoot(path: Path, side: Side, { pairing }: RuleCheck): string | undefined {
  const paths = ['spec', 'status'].map((root) => [root, ...path]);
  const found = paths.find((each) => pairing.nodeAt(side, each) !== undefined);
  return found && rulePathText(found);
}

/** The path is one of the other side. */
function swapHint(path: Path, side: Side, { pairing, names }: RuleCheck): string | undefined {
  if (pairing.nodeAt(otherSide(side), path) === undefined) return undefined;
  return `"${names[otherSide(side)]}" has it: "here" is a field of "${names.here}", and "there" one of the hub "${names.there}"`;
}

/** The path with a similar name instead of the first one that does not exist. */
export function nearestPath(path: Path, side: Side, pairing: Pairing): string | undefined {
  for (let length = 1; length <= path.length; length++) {
    const parent = pairing.nodeAt(side, path.slice(0, length - 1));
    const step = path[length - 1];
    if (parent === undefined || step === undefined) return undefined;
    if (pairing.nodeAt(side, path.slice(0, length)) !== undefined) continue;
    if (parent.kind === 'list' || typeof step !== 'string')
      return parent.kind === 'list' ? inItems(path, length - 1, side, pairing) : undefined;
    const name = parent.kind === 'object' ? nearestName(step, parent.fields.keys()) : undefined;
    return name && rulePathText([...path.slice(0, length - 1), name, ...path.slice(length)]);
  }
  return undefined;
}

/** The path with "[]" after the list that it leads into; with the items only if they have no such field. */
function inItems(path: Path, end: number, side: Side, pairing: Pairing): string {
  const items: Path = [...path.slice(0, end), eachItem];
  const whole = [...items, ...path.slice(end)];
  return rulePathText(pairing.nodeAt(side, whole) === undefined ? items : whole);
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

const noForm = 'No form converts these types: remove the rule, and list the fields in "drop"';

type Nodes = Readonly<Record<Side, SchemaNode>>;

function checkTypes(
  { rule, ...paths }: PlacedRule,
  nodes: Nodes,
  { names }: RuleCheck,
  report: ReportRule,
): void {
  const form = formOfRule(rule);
  const subject = (side: Side) => `"${rulePathText(paths[side])}" of "${names[side]}"`;
  const subjects = { here: subject('here'), there: subject('there') };
  if (form.kind === 'table') {
    checkTable(rule.values ?? {}, { nodes, subjects }, report);
    return;
  }
  const hint = formHint(nodes) ?? tableHint(nodes) ?? mapHint(nodes);
  if (form.kind === 'copy') {
    if (!areCompatible(nodes.here, nodes.there))
      report(
        'there',
        `${subjects.here} is ${typeName(nodes.here)}, and ${subjects.there} is ${typeName(nodes.there)}: a rule without "as" copies values`,
        hint ?? noForm,
      );
    return;
  }
  const [first, second] = expected[form.kind];
  const field = 'field' in form ? form.field : undefined;
  for (const [side, type] of [
    ['here', first],
    ['there', second],
  ] as const) {
    if (type.is(nodes[side], field)) continue;
    const message = `"${form.kind}" needs ${type.name(field)} in "${side}", found ${typeName(nodes[side])}`;
    const fieldNote = fieldHint(nodes[side], field, type);
    report(
      fieldNote === undefined ? 'as' : `as/${form.kind}`,
      message,
      fieldNote ?? hint ?? noForm,
    );
  }
}

/** What converts values of these types. */
function formHint({ here, there }: Nodes): string | undefined {
  if (areCompatible(here, there)) return 'Remove "as": values of these types are copied';
  for (const [name, [first, second]] of Object.entries(expected)) {
    const list = [here, there].find((node) => node.kind === 'list' && node.item.kind === 'object');
    const field = textFields(list)[0];
    if (!first.is(here, field) || !second.is(there, field)) continue;
    if (name === 'durationToSeconds' || name === 'secondsToDuration')
      return `If the text is a duration such as "1m30s": "as: ${name}"`;
    return namedForms.some((form) => form === name)
      ? `The form for these types is "as: { ${name}: ${field ?? 'name'} }"`
      : `The form for these types is "as: ${name}"`;
  }
  return undefined;
}

/** A boolean that becomes a text, or the reverse: each of its two values has one of its own. */
function tableHint({ here, there }: Nodes): string | undefined {
  const isFromBoolean = isScalar(here, ['boolean']) && isScalar(there, ['string']);
  if (!isFromBoolean && !(isScalar(here, ['string']) && isScalar(there, ['boolean'])))
    return undefined;
  const [first = 'Enabled', second = 'Disabled'] = textValues(isFromBoolean ? there : here) ?? [];
  const table = isFromBoolean
    ? `"true": ${first}, "false": ${second}`
    : `${first}: "true", ${second}: "false"`;
  return `Name the values, such as "values: { ${table.replaceAll('"', "'")} }"`;
}

/** A map of single values and a list: no form names the field with the value. */
function mapHint({ here, there }: Nodes): string | undefined {
  const [map, list] = here.kind === 'map' ? [here, there] : [there, here];
  if (map.kind !== 'map' || map.item.kind !== 'scalar' || list.kind !== 'list') return undefined;
  return 'Only a map of objects becomes a list: keep the map in both versions, or see "What the table cannot express" in docs/versions.md';
}

/** The field that the objects of a list have instead. */
function fieldHint(
  node: SchemaNode,
  field: string | undefined,
  type: Expected,
): string | undefined {
  if (type !== objectsType || field === undefined) return undefined;
  const fields = textFields(node);
  if (fields.length === 0) return undefined;
  const nearest = nearestName(field, fields);
  return nearest === undefined
    ? `Its text fields are ${fields.join(', ')}`
    : `Did you mean "${nearest}"?`;
}

function textFields(node: SchemaNode | undefined): readonly string[] {
  if (node?.kind !== 'list' || node.item.kind !== 'object') return [];
  const { keys, item } = node;
  const fields = [...item.fields].flatMap(([name, each]) =>
    isScalar(each, ['string']) ? [name] : [],
  );
  return fields.toSorted((a, b) => Number(keys.includes(b)) - Number(keys.includes(a)));
}

interface Expected {
  /** For messages; with the field that the form names. */
  name(field: string | undefined): string;
  is(node: SchemaNode, field: string | undefined): boolean;
}

const textType: Expected = { name: () => 'a text', is: (node) => isScalar(node, ['string']) };
const numberType: Expected = {
  name: () => 'a number',
  is: (node) => isScalar(node, ['integer', 'number', 'int-or-string']),
};
const yamlType: Expected = {
  name: () => 'an object or a list',
  is: (node) => node.kind !== 'scalar',
};
const textsType: Expected = {
  name: () => 'a list of texts',
  is: (node) => node.kind === 'list' && isScalar(node.item, ['string']),
};
const objectsType: Expected = {
  name: (field) => `a list of objects with a text field "${field}"`,
  is: (node, field = '') => {
    const found = node.kind === 'list' ? fieldNode(node.item, field) : undefined;
    return found !== undefined && (found.kind === 'any' || isScalar(found, ['string']));
  },
};
const mapType: Expected = {
  name: () => 'a map of objects',
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

interface TableSides {
  readonly nodes: Nodes;
  /** The fields, for messages. */
  readonly subjects: Readonly<Record<Side, string>>;
}

function checkTable(
  table: Readonly<Record<string, string>>,
  { nodes, subjects }: TableSides,
  report: ReportRule,
): void {
  for (const side of ['here', 'there'] as const)
    if (!isScalar(nodes[side], ['string', 'boolean'])) {
      const found = typeName(nodes[side]);
      report(
        'values',
        `"values" needs texts or booleans, and ${subjects[side]} is ${found}`,
        'Remove "values"',
      );
      return;
    }
  const seen = new Map<string, string>();
  for (const [from, to] of Object.entries(table)) {
    const at = pointerTo('values', from);
    const other = seen.get(to);
    if (other !== undefined)
      report(
        at,
        `Values "${other}" and "${from}" both become "${to}": one of them is lost`,
        'Give each value one of its own',
      );
    seen.set(to, from);
    for (const [side, value, place] of [
      ['here', from, 'key'],
      ['there', to, undefined],
    ] as const) {
      const known = textValues(nodes[side]);
      if (known === undefined || known.includes(value)) continue;
      const message = `Value "${value}" is not in the enum of ${subjects[side]}`;
      const nearest = nearestName(value, known);
      const hint =
        nearest === undefined ? `Values are ${known.join(', ')}` : `Did you mean "${nearest}"?`;
      report(at, message, hint, place);
    }
  }
  reportMissing(table, { nodes, subjects }, report);
}

/** Values of the enum without an entry; a misspelt entry is probably that of one of them. */
function reportMissing(
  table: Readonly<Record<string, string>>,
  { nodes, subjects }: TableSides,
  report: ReportRule,
): void {
  const known = textValues(nodes.here) ?? [];
  const missing = known.filter((value) => !Object.hasOwn(table, value));
  const misspelt = Object.keys(table).filter((value) => known.length > 0 && !known.includes(value));
  const meant = misspelt.map((value) => nearestName(value, missing));
  const used = Object.values(table);
  const unused = (textValues(nodes.there) ?? []).filter((value) => !used.includes(value));
  const rest = unused.length === 0 ? '' : `; not used yet: ${unused.join(', ')}`;
  for (const value of missing.filter((each) => !meant.includes(each)))
    report(
      'values',
      `Value "${value}" of ${subjects.here} has no value in "there"`,
      `Add it to "values"${rest}`,
    );
}

/** The values of an enum or a boolean, as they are in a table. */
export function textValues(node: SchemaNode): readonly string[] | undefined {
  if (node.kind === 'scalar' && node.type === 'boolean') return ['true', 'false'];
  const values = node.kind === 'scalar' ? node.values : undefined;
  return values?.filter((value) => typeof value === 'string');
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
      return `a list of ${itemsName(node)}`;
    case 'map':
      return `a map of ${itemsName(node)}`;
    case 'object':
      return 'an object';
  }
}

function itemsName({ item }: ListNode | MapNode): string {
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

type ReportOverlap = (rule: PlacedRule, field: Side, message: string, hint: string) => void;

/** Rules of one version that write the same place, or a place inside of a value that another rule writes. */
export function checkOverlaps(rules: readonly PlacedRule[], report: ReportOverlap): void {
  for (const side of ['here', 'there'] as const) {
    const byPath = new Map<string, PlacedRule>();
    for (const rule of rules) {
      const text = rulePathText(rule[side]);
      const first = byPath.get(text);
      if (first === undefined) byPath.set(text, rule);
      else
        report(
          rule,
          side,
          `Rules ${first.index + 1} and ${rule.index + 1} both have "${text}" in "${side}"`,
          'A field has one place in the other version: remove one of the rules',
        );
    }
    for (const rule of rules) checkInside(rule, side, byPath, report);
  }
}

/** Only a copied object, list or map may have rules for its parts; of a map that becomes a list, those for its items. */
function checkInside(
  rule: PlacedRule,
  side: Side,
  byPath: ReadonlyMap<string, PlacedRule>,
  report: ReportOverlap,
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
        `Remove this rule, or rule ${outer.index + 1}`,
      );
    return;
  }
}
