import { type CelNode, literalOf } from '#sandbox';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { NoEquivalentError } from '../cel/cel-context.ts';
import { convertCel } from '../cel/convert-cel.ts';
import { schemaOfType } from '../cel/value-type.ts';
import { expressionText as inBraces } from '../template-text.ts';
import { below, convertText, type ValuePlace } from './convert-value.ts';
import { celContext, type GraphContext, graphVariables, type Variables } from './scope.ts';
import { piecesOf } from './text-pieces.ts';

export interface StatusParts {
  /** Structural schema of the status. */
  readonly schema: JsonObject;
  readonly status: JsonObject;
  readonly conditions: readonly JsonObject[];
}

const place: ValuePlace = { name: 'schema.status', pointer: '/spec/schema/status' };

/** Converts `schema.status`: values become expressions of `status`, their types the schema. */
export function convertStatus(value: unknown, context: GraphContext): StatusParts {
  const { conditions = [], ...fields } = isJsonObject(value) ? value : {};
  const tree = convertTree(fields, place, graphVariables(context), context);
  return {
    schema: tree?.schema ?? { type: 'object' },
    status: isJsonObject(tree?.value) ? tree.value : {},
    conditions: convertConditions(conditions, context),
  };
}

interface Tree {
  readonly value: Json;
  readonly schema: JsonObject;
}

function convertTree(
  value: unknown,
  at: ValuePlace,
  variables: Variables,
  context: GraphContext,
): Tree | undefined {
  if (typeof value === 'string') {
    const text = convertText(value, at, variables, context);
    return text && { value: text.value, schema: schemaOfType(text.type) };
  }
  if (Array.isArray(value)) {
    const items = value.flatMap(
      (item: unknown, index) => convertTree(item, below(at, index), variables, context) ?? [],
    );
    const schema = items[0]?.schema ?? {};
    return { value: items.map((each) => each.value), schema: { type: 'array', items: schema } };
  }
  if (!isJsonObject(value)) return { value: value as Json, schema: { type: typeof value } };
  const fields = Object.entries(value).flatMap(([name, each]) => {
    const tree = convertTree(each, below(at, name), variables, context);
    return tree === undefined ? [] : [[name, tree] as const];
  });
  const properties = Object.fromEntries(fields.map(([name, { schema }]) => [name, schema]));
  return {
    value: Object.fromEntries(fields.map(([name, tree]) => [name, tree.value])),
    schema: { type: 'object', ...(fields.length > 0 && { properties }) },
  };
}

/** Conditions that Homeostat writes itself. */
const standard: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled']);

function convertConditions(value: Json | undefined, context: GraphContext): readonly JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown, index) => {
    const at = below(below(place, 'conditions'), index);
    const condition = convertCondition(each, at, context);
    return condition === undefined ? [] : [condition];
  });
}

/** `runtime.newCondition({ type, status, reason, message })` */
function convertCondition(
  value: unknown,
  at: ValuePlace,
  context: GraphContext,
): JsonObject | undefined {
  const { report, parse } = context;
  const [piece] = typeof value === 'string' ? piecesOf(value.trim()) : [];
  const parsed = piece?.kind === 'expression' ? parse(piece.cel) : undefined;
  const fields =
    parsed !== undefined && 'node' in parsed ? conditionFields(parsed.node) : undefined;
  const type = fields?.type && literalOf(fields.type);
  if (fields === undefined || typeof type !== 'string' || !fields.status) {
    report.leftOut(at, 'Expected "runtime.newCondition" with a literal type and a status');
    return undefined;
  }
  if (standard.has(type)) {
    report.leftOut(
      at,
      `Homeostat writes the condition "${type}" itself`,
      'Write "ready" for the children',
    );
    return undefined;
  }
  const cel = celContext(graphVariables(context), context);
  try {
    const text = (node: CelNode) => textOf(node, cel);
    const { status, reason, message } = fields;
    const result = {
      type,
      status: statusOf(status, cel),
      ...(reason && { reason: text(reason) }),
      ...(message && literalOf(message) !== '' && { message: text(message) }),
    };
    report.converted(at, cel.notes);
    return result;
  } catch (error) {
    if (!(error instanceof NoEquivalentError)) throw error;
    report.leftOut(
      { ...at, offset: (piece?.kind === 'expression' ? piece.offset : 0) + error.offset },
      error.message,
      error.hint,
    );
    return undefined;
  }
}

function conditionFields(node: CelNode): Readonly<Record<string, CelNode>> | undefined {
  if (node.op !== 'rcall') return undefined;
  const [name, target, [map]] = node.args;
  const isCondition = name === 'newCondition' && target.op === 'id' && target.args === 'runtime';
  if (!isCondition || map?.op !== 'map') return undefined;
  return Object.fromEntries(
    map.args.map(([key, each]) => [key.op === 'id' ? key.args : String(literalOf(key)), each]),
  );
}

/** `test ? "True" : "False"` is the test. */
function statusOf(node: CelNode, cel: ReturnType<typeof celContext>): string {
  if (node.op === '?:' && literalOf(node.args[1]) === 'True' && literalOf(node.args[2]) === 'False')
    return inBraces(convertCel(node.args[0], cel).text);
  return textOf(node, cel);
}

function textOf(node: CelNode, cel: ReturnType<typeof celContext>): string {
  const { literal, text } = convertCel(node, cel);
  return typeof literal === 'string' ? literal : inBraces(text);
}
