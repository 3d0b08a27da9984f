import type { SchemaType } from '#compile';
import { type CelNode, literalOf } from '#sandbox';
import { atom, type CelContext, NoEquivalentError, withVariables } from './cel-context.ts';
import { type Jsonata, lambda, level, operand, quoted, variable } from './jsonata.ts';
import {
  booleanType,
  integerType,
  itemType,
  listOf,
  mapOf,
  shapeOf,
  textType,
  unknownType,
} from './value-type.ts';

export type Convert = (node: CelNode, context: CelContext) => Jsonata;

type CallNode = CelNode & { op: 'call' | 'rcall' };

/** A macro: a call whose arguments declare variables. */
interface MacroCall {
  readonly name: string;
  readonly target: Jsonata;
  /** Names of the variables: one, or the key (index) and the value. */
  readonly names: readonly string[];
  readonly bodies: readonly CelNode[];
  readonly node: CelNode;
  readonly context: CelContext;
  readonly convert: Convert;
}

/** Converts calls that declare variables, and `has`. Undefined: the call is no macro. */
export function convertMacro(
  node: CallNode,
  context: CelContext,
  convert: Convert,
): Jsonata | undefined {
  if (node.op === 'call') return has(node, context, convert);
  const [name, target, args] = node.args;
  if (name === 'bind' && target.op === 'id' && target.args === 'cel')
    return bind(args, context, convert);
  const rule = macros[name];
  if (rule === undefined) return undefined;
  const count = variableCount(name, args);
  const names = args.slice(0, count).map((each) => (each.op === 'id' ? each.args : ''));
  if (names.includes('') || args.length === count) return undefined;
  const common = { name, names, bodies: args.slice(count), node, context, convert };
  return rule({ ...common, target: convert(target, context) });
}

/** `all(x, p)` has one variable, `all(i, x, p)` two, `map(x, p, f)` one and two bodies. */
function variableCount(name: string, args: readonly CelNode[]): number {
  if (name.startsWith('transform')) return 2;
  if (name === 'map' || name === 'sortBy' || name === 'optMap') return 1;
  return args.length > 2 ? 2 : 1;
}

function has(
  node: CelNode & { op: 'call' },
  context: CelContext,
  convert: Convert,
): Jsonata | undefined {
  const [name, [path]] = node.args;
  if (name !== 'has' || path === undefined) return undefined;
  return atom(`$exists(${convert(path, context).text})`, booleanType, 'always');
}

/** `cel.bind(x, value, body)` */
function bind(args: readonly CelNode[], context: CelContext, convert: Convert): Jsonata {
  const [name, valueNode, body] = args;
  if (name?.op !== 'id' || valueNode === undefined || body === undefined)
    throw new NoEquivalentError('Expected "cel.bind(name, value, expression)"', 0);
  const value = convert(valueNode, context);
  const own = variable(name.args);
  const inner = convert(body, withVariables(context, [[name.args, { ...value, ...atomOf(own) }]]));
  return { ...inner, ...atomOf(`(${own} := ${value.text}; ${inner.text})`) };
}

function atomOf(text: string): Pick<Jsonata, 'text' | 'level'> {
  return { text, level: level.path };
}

const macros: Readonly<Record<string, (call: MacroCall) => Jsonata>> = {
  map: mapMacro,
  filter: (call) => atom(`[${filtered(call, call.bodies[0])}]`, call.target.type, 'always'),
  exists: exists,
  all: (call) => atom(`$count(${filtered(call, call.bodies[0], true)}) = 0`, booleanType, 'always'),
  exists_one: (call) => counted(call, '= 1'),
  existsOne: (call) => counted(call, '= 1'),
  sortBy,
  optMap,
  transformList,
  transformMap: (call) => transformedMap(call, ({ key, value }) => `{ ${key}: ${value} }`),
  transformMapEntry: (call) => transformedMap(call, ({ value }) => value),
};

function counted(call: MacroCall, comparison: string): Jsonata {
  const text = `$count(${filtered(call, call.bodies[0])}) ${comparison}`;
  return { ...atom(text, booleanType, 'always'), level: level.comparison };
}

/** The parameters of the function for one element: the value first, as JSONata passes them. */
function parametersOf({ names, target, context }: MacroCall) {
  const overMap = shapeOf(target.type) === 'map';
  const [first = '', second] = names;
  const item = itemOf(target, names.length === 1 && overMap);
  const key = atom(variable(first), overMap ? textType : integerType, 'always');
  if (second === undefined) {
    const value = atom(variable(first), item, 'always');
    return { parameters: [value.text], inner: withVariables(context, [[first, value]]) };
  }
  const value = atom(variable(second), item, 'always');
  return {
    parameters: [value.text, key.text],
    inner: withVariables(context, [
      [first, key],
      [second, value],
    ]),
  };
}

/** With one variable, macros of a map are evaluated for its keys. */
function itemOf({ type }: Jsonata, isKey: boolean): SchemaType {
  return isKey ? textType : itemType(type);
}

/** The list that a macro with one variable, or with index and value, visits. */
function elements({ target, names }: MacroCall): string {
  return shapeOf(target.type) === 'map' && names.length === 1
    ? `$keys(${target.text})`
    : target.text;
}

/** The elements for which the body is true (or false). A map with two variables becomes a list of its values. */
function filtered(call: MacroCall, body: CelNode | undefined, isNegated = false): string {
  const { parameters, inner } = parametersOf(call);
  const test = bodyOf(call, body, inner).text;
  const own = isNegated ? `$not(${test})` : test;
  if (shapeOf(call.target.type) === 'map' && call.names.length === 2)
    return `$each(${call.target.text}, ${lambda(parameters, `${ifLevel(own)} ? true`)})`;
  return `$filter(${elements(call)}, ${lambda(parameters, own)})`;
}

function ifLevel(text: string): string {
  return / (?:and|or|\?) /.test(text) ? `(${text})` : text;
}

function bodyOf(call: MacroCall, body: CelNode | undefined, inner: CelContext): Jsonata {
  if (body === undefined)
    throw new NoEquivalentError(`"${call.name}" lacks an argument`, call.node.start);
  return call.convert(body, inner);
}

/** `conditions.exists(c, c.type == "Ready" && c.status == "True")` is `$condition(object, "Ready").status = "True"`. */
function exists(call: MacroCall): Jsonata {
  const condition = conditionTest(call);
  const object = /^(.+)\.status\.conditions$/.exec(call.target.text)?.[1];
  if (condition === undefined || object === undefined) return counted(call, '> 0');
  const text = `$condition(${object}, ${quoted(condition.type)}).status = ${quoted(condition.status)}`;
  return { ...atom(text, booleanType, 'always'), level: level.comparison };
}

function conditionTest({ bodies: [body], names }: MacroCall) {
  if (body?.op !== '&&' || names.length !== 1) return undefined;
  const tests = new Map(body.args.flatMap((each) => fieldTest(each, names[0] ?? '')));
  const [type, status] = [tests.get('type'), tests.get('status')];
  return type === undefined || status === undefined || tests.size !== 2
    ? undefined
    : { type, status };
}

/** The field and the text of `x.field == "text"`. */
function fieldTest(node: CelNode, name: string): readonly (readonly [string, string])[] {
  if (node.op !== '==') return [];
  const [path, value] = node.args;
  const text = literalOf(value);
  if (path.op !== '.' || typeof text !== 'string') return [];
  const [object, field] = path.args;
  return object.op === 'id' && object.args === name ? [[String(field), text]] : [];
}

/** A difference, unless the list is flattened anyway. */
export const joinedLists = 'a list of lists is joined where it has one element';

/** `map(x, f)` and `map(x, p, f)` */
function mapMacro(call: MacroCall): Jsonata {
  const { parameters, inner } = parametersOf(call);
  const [first, second] = call.bodies;
  const body = bodyOf(call, second ?? first, inner);
  if (shapeOf(body.type) === 'list') call.context.notes.add(joinedLists);
  const from = second === undefined ? elements(call) : filtered(call, first);
  return atom(`[$map(${from}, ${lambda(parameters, body.text)})]`, listOf(body.type), 'always');
}

/** JSONata compares pairs: the body is converted for both elements. */
function sortBy(call: MacroCall): Jsonata {
  const { target, names, bodies, context } = call;
  const key = (text: string) => {
    const own = atom(text, itemType(target.type), 'always');
    return operand(
      bodyOf(call, bodies[0], withVariables(context, [[names[0] ?? '', own]])),
      level.sum,
    );
  };
  const sorted = `$sort(${target.text}, ${lambda(['$left', '$right'], `${key('$left')} > ${key('$right')}`)})`;
  return atom(`[${sorted}]`, target.type, 'always');
}

/** `a.?b.optMap(x, f)` */
function optMap(call: MacroCall): Jsonata {
  const [name = ''] = call.names;
  const own = atom(variable(name), call.target.type, 'always');
  const body = bodyOf(call, call.bodies[0], withVariables(call.context, [[name, own]]));
  const text = `(${own.text} := ${call.target.text}; $exists(${own.text}) ? ${operand(body, level.or)})`;
  return atom(text, body.type);
}

/** The results for each entry, with an optional filter before. */
function eachEntry(call: MacroCall, result: (value: Jsonata) => string): string {
  const { parameters, inner } = parametersOf(call);
  const [first, second] = call.bodies;
  const body = result(bodyOf(call, second ?? first, inner));
  const own =
    second === undefined ? body : `${operand(bodyOf(call, first, inner), level.or)} ? ${body}`;
  const name = shapeOf(call.target.type) === 'list' ? '$map' : '$each';
  if (shapeOf(call.target.type) === 'unknown')
    call.context.notes.add(`"${call.name}" is converted for a map, as the type is not known`);
  return `${name}(${call.target.text}, ${lambda(parameters, own)})`;
}

function transformList(call: MacroCall): Jsonata {
  let type: SchemaType = unknownType;
  const text = eachEntry(call, (value) => {
    type = value.type;
    return operand(value, level.or);
  });
  return atom(`[${text}]`, listOf(type), 'always');
}

function transformedMap(
  call: MacroCall,
  entry: (parts: { readonly key: string; readonly value: string }) => string,
): Jsonata {
  const key = shapeOf(call.target.type) === 'list' ? `$string(${keyOf(call)})` : keyOf(call);
  let type: SchemaType = unknownType;
  const text = eachEntry(call, (value) => {
    type = value.type;
    return entry({ key, value: value.text });
  });
  const isEntry = call.name === 'transformMapEntry';
  return atom(`$merge([${text}])`, isEntry ? type : mapOf(type), 'always');
}

function keyOf({ names }: MacroCall): string {
  return variable(names[0] ?? '');
}
