import type { ASTNode } from '@marcbachmann/cel-js';
import { messageOf } from '#util/homeostat-error.ts';
import type { JsonObject } from '#util/json.ts';
import { stringField } from '../json-fields.ts';
import { objectMetaFields, type StructuralSchema } from '../schema/structural-schema.ts';
import { type CelEnvironment, celName } from './cel-environment.ts';
import { formatProblem } from './compile-problem.ts';

/** What can be determined about a rule without a value. */
export interface CheckedRule {
  /** Why the server would not compile the rule, as far as the sandbox can determine. */
  readonly problem: string | undefined;
  readonly messageProblem: string | undefined;
  readonly usesOldSelf: boolean;
}

export interface RulePlace {
  /** The schema of `self`. */
  readonly schema: StructuralSchema;
  readonly isRoot: boolean;
}

/** Checks a rule of a schema. Accepts functions that the sandbox does not support: the server may have them. */
export function checkRule(
  environment: CelEnvironment,
  rule: JsonObject,
  place: RulePlace,
): CheckedRule {
  const text = stringField(rule, 'rule') ?? '';
  const messageText = stringField(rule, 'messageExpression') ?? '';
  return {
    problem: problemOf(environment, text, {
      place,
      prefix: '',
      type: 'bool',
      mistyped: 'cel expression must evaluate to a bool',
    }),
    messageProblem:
      messageText === ''
        ? undefined
        : problemOf(environment, messageText, {
            place,
            prefix: 'messageExpression ',
            type: 'string',
            mistyped: 'messageExpression must evaluate to a string',
          }),
    usesOldSelf: /\boldSelf\b/.test(text),
  };
}

interface ExpectedType {
  readonly place: RulePlace;
  readonly prefix: string;
  readonly type: string;
  readonly mistyped: string;
}

function problemOf(
  environment: CelEnvironment,
  text: string,
  expected: ExpectedType,
): string | undefined {
  const failed = `${expected.prefix}compilation failed: ERROR: <input>:`;
  try {
    const program = environment.parse(text);
    const found = nameProblem(program.ast, {
      variables: new Set(['self', 'oldSelf']),
      place: expected.place,
    });
    if (found !== undefined) return `${failed}${formatProblem(text, found)}`;
    const { valid, type } = program.check();
    const resultType = valid ? (typeOfField(program.ast, expected.place) ?? type) : 'dyn';
    return resultType === 'dyn' || resultType === expected.type ? undefined : expected.mistyped;
  } catch (error) {
    const [line = ''] = messageOf(error).split('\n');
    return `${failed}1:1: Syntax error: ${line}`;
  }
}

interface NameProblem {
  readonly at: number;
  readonly message: string;
}

interface Scope {
  readonly variables: ReadonlySet<string>;
  readonly place: RulePlace;
}

/** The first undeclared name: a variable, or a field of `self`. */
function nameProblem(node: ASTNode, scope: Scope): NameProblem | undefined {
  switch (node.op) {
    case 'id':
      if (scope.variables.has(node.args) || types.has(node.args)) return undefined;
      return {
        at: node.start,
        message: `undeclared reference to '${node.args}' (in container '')`,
      };
    case '.':
    case '.?': {
      const [object, name] = node.args;
      const inner = nameProblem(object, scope);
      if (inner !== undefined) return inner;
      const schema = schemaOf(object, scope.place);
      const scalar = scalarName(schema);
      if (scalar !== undefined)
        return { at: node.pos - 1, message: `type '${scalar}' does not support field selection` };
      if (schema === undefined || !isClosed(schema)) return undefined;
      const isMetaField =
        scope.place.isRoot && object.op === 'id' && objectMetaFields.has(String(name));
      if (isMetaField || fieldNamed(schema, String(name)) !== undefined) return undefined;
      return { at: node.pos - 1, message: `undefined field '${name}'` };
    }
    case 'rcall':
      return callProblem(node.args[1], node.args[2], bound(node.args[0], node.args[2], scope));
    default:
      return firstProblem(nodesWithin(node.args), scope);
  }
}

/** The receiver of a call cannot use the variables that the call declares. */
function callProblem(
  object: ASTNode,
  args: readonly ASTNode[],
  { outer, inner, rest }: Bound,
): NameProblem | undefined {
  const isNamespace = object.op === 'id' && !outer.variables.has(object.args);
  // `cel.bind(x, ..)`, `optional.of(..)`: here the name before the dot is part of the function's name.
  const first = isNamespace ? undefined : nameProblem(object, outer);
  return first ?? firstProblem(args.slice(rest), inner);
}

interface Bound {
  readonly outer: Scope;
  readonly inner: Scope;
  /** The number of arguments that are variables. */
  readonly rest: number;
}

const binding: ReadonlySet<string> = new Set([
  'all',
  'exists',
  'exists_one',
  'map',
  'filter',
  'bind',
  'existsOne',
  'transformList',
  'transformMap',
  'transformMapEntry',
  'sortBy',
  'optMap',
  'optFlatMap',
]);

function bound(name: string, args: readonly ASTNode[], outer: Scope): Bound {
  if (!binding.has(name)) return { outer, inner: outer, rest: 0 };
  const ids = args.slice(0, Math.min(2, args.length - 1));
  // The second argument may be a variable or the expression to evaluate on the first.
  const [first, second] = ids.map((node) => (node.op === 'id' ? node.args : undefined));
  const isSecondVariable = second !== undefined && !outer.variables.has(second) && args.length > 2;
  const names = [first, isSecondVariable ? second : undefined].filter((id) => id !== undefined);
  const variables = new Set([...outer.variables, ...names]);
  return { outer, inner: { ...outer, variables }, rest: names.length };
}

function firstProblem(nodes: readonly ASTNode[], scope: Scope): NameProblem | undefined {
  for (const node of nodes) {
    const found = nameProblem(node, scope);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The expressions nested in another expression. */
function nodesWithin(args: unknown): readonly ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesWithin);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

const types: ReadonlySet<string> = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
  'dyn',
  'optional_type',
  'duration',
  'timestamp',
  'google',
]);

/** The schema of a field selection; undefined = unknown. */
function schemaOf(node: ASTNode, place: RulePlace): StructuralSchema | undefined {
  if (node.op === 'id') return node.args === 'self' ? place.schema : undefined;
  if (node.op !== '.') return undefined;
  const [object, name] = node.args;
  const isMetaField = place.isRoot && object.op === 'id' && objectMetaFields.has(String(name));
  const schema = isMetaField ? undefined : schemaOf(object, place);
  return schema === undefined ? undefined : fieldNamed(schema, String(name));
}

function fieldNamed(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const found = Object.entries(schema.properties ?? {}).find(([own]) => celName(own) === name);
  return found?.[1];
}

/** Returns whether the schema allows only declared fields. Embedded objects have metadata fields, and preserved fields have no type. */
function isClosed(schema: StructuralSchema): boolean {
  const { type, properties = {}, additionalProperties } = schema;
  return (
    type === 'object' &&
    Object.keys(properties).length > 0 &&
    additionalProperties === undefined &&
    schema['x-kubernetes-embedded-resource'] !== true &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true
  );
}

/** The type of a field, if the expression is only a field selection. */
function typeOfField(node: ASTNode, place: RulePlace): string | undefined {
  return scalarName(schemaOf(node, place));
}

/** The name that CEL gives to a scalar type; undefined for all others, and where a format may change the type. */
function scalarName(schema: StructuralSchema | undefined): string | undefined {
  if (schema === undefined || schema['x-kubernetes-int-or-string'] === true) return undefined;
  switch (schema.type) {
    case 'string':
      return schema.format === undefined ? 'string' : undefined;
    case 'integer':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    default:
      return undefined;
  }
}
