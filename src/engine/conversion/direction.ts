import { isJsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { isTooDeep } from './nesting.ts';
import { eachItem, type RuleStep } from './rule-path.ts';
import {
  canHold,
  fieldNode,
  fits,
  hasOpenPart,
  identityOf,
  itemNode,
  type ListNode,
  type MapNode,
  type ObjectNode,
  type SchemaNode,
} from './schema-node.ts';
import {
  durationToSeconds,
  itemsToObjects,
  listToMap,
  mapToList,
  objectsToItems,
  secondsToDuration,
  type Transform,
  type ValueForm,
  type YamlText,
} from './value-forms.ts';

/** A rule in the direction of a conversion. */
export interface DirectedRule {
  readonly from: readonly RuleStep[];
  readonly to: readonly RuleStep[];
  readonly form: ValueForm;
}

export interface Direction {
  readonly source: SchemaNode;
  readonly target: SchemaNode;
  readonly rules: readonly DirectedRule[];
  /** Paths that are given up, of either side. */
  readonly drop: readonly (readonly RuleStep[])[];
}

/** A value of the source at one path, and where it is written. */
interface Move {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly isNullable: boolean;
  readonly transform: Transform;
}

/**
 * The conversion of a value by rules, without what is preserved: what the target cannot hold is missing. Values are never changed; parts that
 * are equal on both sides are shared by reference, which makes it fast.
 */
export function compileDirection(direction: Direction, yaml: YamlText): Transform {
  const { source, target, rules, drop } = direction;
  const own = rules.find((rule) => rule.from.length === 0 && rule.to.length === 0);
  if (own !== undefined && own.form.kind !== 'copy')
    return compileForm(
      own.form,
      { ...direction, rules: rules.filter((each) => each !== own) },
      yaml,
    );
  if (rules.length > 0 || drop.length > 0 || !canHold(target, source))
    return compileParts(direction, yaml);
  if (!hasOpenPart(source)) return (value) => value;
  const convert = compileParts(direction, yaml);
  return (value) => (isTooDeep(value) ? convert(value) : value);
}

/** The conversion of each part of a value. */
function compileParts(direction: Direction, yaml: YamlText): Transform {
  const { source, target } = direction;
  if (source.kind === 'object' && target.kind === 'object')
    return compileFields(direction as Direction & Both<ObjectNode>, yaml);
  if (source.kind === 'list' && target.kind === 'list')
    return compileList(direction as Direction & Both<ListNode>, yaml);
  if (source.kind === 'map' && target.kind === 'map')
    return compileMap(direction as Direction & Both<MapNode>, yaml);
  return (value) => (fits(value, target) ? value : undefined);
}

interface Both<Node> {
  readonly source: Node;
  readonly target: Node;
}

function compileList(direction: Direction & Both<ListNode>, yaml: YamlText): Transform {
  const convert = compileDirection(itemDirection(direction), yaml);
  return (value) =>
    Array.isArray(value) ? uniqueItems(value.map(convert), direction.target) : undefined;
}

function compileMap(direction: Direction & Both<MapNode>, yaml: YamlText): Transform {
  const convert = compileDirection(itemDirection(direction), yaml);
  return (value) => {
    if (!isJsonObject(value)) return undefined;
    const map = {};
    for (const key of Object.keys(value)) {
      const converted = convert(value[key]);
      if (converted !== undefined) setField(map, key, converted);
    }
    return map;
  };
}

/** The direction of the items of two lists or maps. */
function itemDirection({ source, target, rules, drop }: Direction): Direction {
  const any = { kind: 'any', isNullable: true } as const;
  return {
    source: itemNode(source) ?? any,
    target: itemNode(target) ?? any,
    rules: rules.map((rule) => ({ ...rule, from: rule.from.slice(1), to: rule.to.slice(1) })),
    drop: drop.filter((path) => path[0] === eachItem).map((path) => path.slice(1)),
  };
}

/** Without what an item of the target may not be: no value, or the identity of an earlier item. */
function uniqueItems(items: readonly unknown[], node: ListNode): readonly unknown[] {
  if (node.listType === 'atomic') return items.filter((item) => item !== undefined);
  const found = new Set<string>();
  return items.filter((item) => {
    const identity = identityOf(item, node);
    if (identity === undefined || found.has(identity)) return false;
    found.add(identity);
    return true;
  });
}

function compileForm(form: ValueForm, direction: Direction, yaml: YamlText): Transform {
  const { target } = direction;
  const plain = plainForm(form, direction, yaml);
  return (value) => {
    const converted = plain(value);
    if (target.kind === 'list' && Array.isArray(converted))
      return uniqueItems(
        converted.filter((item) => fits(item, target.item)),
        target,
      );
    return fits(converted, target) ? converted : undefined;
  };
}

function plainForm(form: ValueForm, direction: Direction, yaml: YamlText): Transform {
  const { target } = direction;
  switch (form.kind) {
    case 'copy':
      return (value) => value;
    case 'table':
      return byTable(form.values, direction);
    case 'durationToSeconds':
      return durationToSeconds(target.kind === 'scalar' && target.type !== 'number');
    case 'secondsToDuration':
      return secondsToDuration;
    case 'textToYaml':
      return (value) => {
        return typeof value === 'string' ? orNothing(() => yaml.parse(value)) : undefined;
      };
    case 'yamlToText':
      return (value) => orNothing(() => yaml.print(value));
    case 'itemsToObjects':
      return itemsToObjects(form.field);
    case 'objectsToItems':
      return objectsToItems(form.field);
    case 'mapToList':
      return mapToList(form.field, compileDirection(withoutKey(direction, form.field), yaml));
    case 'listToMap':
      return listToMap(form.field, compileDirection(withoutKey(direction, form.field), yaml));
  }
}

/** A boolean is in a table as the text "true" or "false". */
function byTable(values: ReadonlyMap<string, string>, { source, target }: Direction): Transform {
  const hasBooleans = isBoolean(source);
  const isToBoolean = isBoolean(target);
  return (value) => {
    if (typeof value !== (hasBooleans ? 'boolean' : 'string')) return undefined;
    const found = values.get(String(value));
    return isToBoolean && found !== undefined ? found === 'true' : found;
  };
}

function isBoolean(node: SchemaNode): boolean {
  return node.kind === 'scalar' && node.type === 'boolean';
}

/** What a function returns. Undefined: it failed, so the value is odd, and is preserved as it is. */
function orNothing(convert: () => unknown): unknown {
  try {
    return convert();
  } catch {
    return undefined;
  }
}

/** The direction of the items of a map and a list, whose field with the key is not converted. */
function withoutKey(direction: Direction, field: string): Direction {
  const item = itemDirection(direction);
  const without = (node: SchemaNode): SchemaNode => {
    if (node.kind !== 'object') return node;
    return { ...node, fields: new Map([...node.fields].filter(([name]) => name !== field)) };
  };
  return direction.source.kind === 'list'
    ? { ...item, source: without(item.source) }
    : { ...item, target: without(item.target) };
}

function compileFields(direction: Direction & Both<ObjectNode>, yaml: YamlText): Transform {
  const { moves, rests } = new FieldMapper(direction, yaml).map();
  return (value) => {
    if (!isJsonObject(value)) return undefined;
    const object = {};
    for (const { from, to, isNullable, transform } of moves) {
      const found = valueAt(value, from);
      if (found === undefined || (found === null && !isNullable)) continue;
      const converted = found === null ? null : transform(found);
      if (converted !== undefined) setAt(object, to, converted);
    }
    for (const { from, to, known } of rests) copyRest(valueAt(value, from), known, object, to);
    return object;
  };
}

/** Unknown fields of an object that keeps them on both sides. */
interface Rest {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly known: ReadonlySet<string>;
}

function copyRest(
  source: unknown,
  known: ReadonlySet<string>,
  object: object,
  to: readonly string[],
): void {
  if (!isJsonObject(source)) return;
  for (const [name, value] of Object.entries(source))
    if (!known.has(name) && value !== undefined && !isTooDeep(value))
      setAt(object, [...to, name], value);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (!isJsonObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/** Writes into an object that this conversion has made, all objects on the way included. */
function setAt(object: object, path: readonly string[], value: unknown): void {
  let parent = object as Record<string, unknown>;
  const end = path.length - 1;
  for (let index = 0; index < end; index++) {
    const name = path[index] ?? '';
    if (!isJsonObject(parent[name])) setField(parent, name, {});
    parent = parent[name] as Record<string, unknown>;
  }
  const last = path[end] ?? '';
  // An object that exists without fields of its own, where other fields have been written already.
  if (value === existing && isJsonObject(parent[last])) return;
  setField(parent, last, value === existing ? {} : value);
}

/** Stands for an object whose fields are written one by one. */
const existing = Symbol('existing');

/** Finds the place of each field in the target: that of its rule, or the same one below the place of its parent. */
class FieldMapper {
  readonly #direction: Direction & Both<ObjectNode>;
  readonly #yaml: YamlText;
  readonly #byFrom = new Map<string, DirectedRule>();
  readonly #byTo = new Map<string, DirectedRule>();
  readonly #moves: Move[] = [];
  readonly #rests: Rest[] = [];

  constructor(direction: Direction & Both<ObjectNode>, yaml: YamlText) {
    this.#direction = direction;
    this.#yaml = yaml;
    for (const rule of direction.rules) {
      if (rule.from.includes(eachItem)) continue;
      this.#byFrom.set(textOf(rule.from), rule);
      this.#byTo.set(textOf(rule.to), rule);
    }
  }

  map(): { readonly moves: readonly Move[]; readonly rests: readonly Rest[] } {
    this.#mapFields(this.#direction.source, [], []);
    return { moves: this.#moves, rests: this.#rests };
  }

  #mapFields(node: ObjectNode, path: readonly string[], inherited: readonly string[] | undefined) {
    for (const [name, field] of node.fields)
      this.#mapField(field, [...path, name], inherited && [...inherited, name]);
    const target = inherited && this.#targetAt(inherited);
    if (node.isOpen && inherited && target && (target.kind === 'any' || isOpen(target))) {
      const own = target.kind === 'object' ? target.fields.keys() : [];
      this.#rests.push({
        from: path,
        to: inherited,
        known: new Set([...node.fields.keys(), ...own]),
      });
    }
  }

  #mapField(node: SchemaNode, path: readonly string[], inherited: readonly string[] | undefined) {
    if (this.#isDropped(path)) return;
    const rule = this.#byFrom.get(textOf(path));
    const to = rule ? (rule.to as readonly string[]) : this.#unclaimed(path, inherited);
    const target = to && !this.#isDropped(to) ? this.#targetAt(to) : undefined;
    const form = rule?.form ?? { kind: 'copy' as const };
    const hasForm = form.kind !== 'copy';
    if (node.kind === 'object' && !hasForm && (target === undefined || this.#hasInner(path, to))) {
      this.#mapFields(node, path, to);
      // Fields of it are written one by one. An object whose required fields nothing may write is not created.
      if (target?.kind === 'object' && target.required.length === 0 && to)
        this.#addMove(path, to, target, presence);
      return;
    }
    if (target === undefined || to === undefined) return;
    const rules = this.#rulesBelow(path, to);
    const inner: Direction = { source: node, target, rules, drop: this.#dropBelow(path, to) };
    const transform = hasForm
      ? compileForm(form, inner, this.#yaml)
      : compileDirection(inner, this.#yaml);
    this.#addMove(path, to, target, transform);
  }

  #addMove(
    from: readonly string[],
    to: readonly string[],
    target: SchemaNode,
    transform: Transform,
  ): void {
    this.#moves.push({ from, to, isNullable: target.isNullable, transform });
  }

  #targetAt(path: readonly string[]): SchemaNode | undefined {
    let node: SchemaNode | undefined = this.#direction.target;
    for (const name of path) node = node && fieldNode(node, name);
    return node;
  }

  /** The inherited place, unless a rule writes there. */
  #unclaimed(
    path: readonly string[],
    to: readonly string[] | undefined,
  ): readonly string[] | undefined {
    if (to === undefined) return undefined;
    for (let length = to.length; length > 0; length--) {
      const rule = this.#byTo.get(textOf(to.slice(0, length)));
      if (rule === undefined) continue;
      const origin = [...rule.from, ...to.slice(length)];
      return textOf(origin) === textOf(path) && rule.form.kind === 'copy' ? to : undefined;
    }
    return to;
  }

  /** Are there rules or dropped fields of fields inside, on either side? */
  #hasInner(path: readonly string[], to: readonly string[] | undefined): boolean {
    const { rules, drop } = this.#direction;
    const isInside = (steps: readonly RuleStep[], parent: readonly string[]) =>
      steps.length > parent.length && parent.every((name, index) => steps[index] === name);
    return (
      rules.some((rule) => isInside(rule.from, path) || (to && isInside(rule.to, to))) ||
      drop.some((each) => isInside(each, path) || (to && isInside(each, to)))
    );
  }

  /** Rules of the items of a list or map at this path. */
  #rulesBelow(path: readonly string[], to: readonly string[]): readonly DirectedRule[] {
    return this.#direction.rules
      .filter((rule) => below(rule.from, path) && below(rule.to, to))
      .map((rule) => ({
        ...rule,
        from: rule.from.slice(path.length),
        to: rule.to.slice(to.length),
      }));
  }

  #dropBelow(path: readonly string[], to: readonly string[]): readonly (readonly RuleStep[])[] {
    const { drop } = this.#direction;
    return [
      ...drop.filter((each) => below(each, path)).map((each) => each.slice(path.length)),
      ...drop.filter((each) => below(each, to)).map((each) => each.slice(to.length)),
    ];
  }

  #isDropped(path: readonly string[]): boolean {
    return this.#direction.drop.some(
      (each) => each.length === path.length && path.every((name, index) => each[index] === name),
    );
  }
}

function below(steps: readonly RuleStep[], path: readonly string[]): boolean {
  return steps[path.length] === eachItem && path.every((name, index) => steps[index] === name);
}

function isOpen(node: SchemaNode): boolean {
  return node.kind === 'object' && node.isOpen;
}

function presence(value: unknown): unknown {
  return isJsonObject(value) ? existing : undefined;
}

/** A path as a key of a map. */
function textOf(path: readonly RuleStep[]): string {
  return JSON.stringify(path);
}
