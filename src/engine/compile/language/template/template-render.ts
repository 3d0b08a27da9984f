/**
 * Renders the syntax tree of Handlebars. The Handlebars runtime is not used: it cannot name missing values, prints
 * objects as `[object Object]`, limits neither loops nor output, and requires code generation. Results equal those of
 * its strict mode without escaping.
 */
import { ExpressionError } from '../evaluation-error.ts';
import type { FunctionDependencies } from '../functions/language-function.ts';
import type { Scope } from '../leaf.ts';
import { limits } from '../limits.ts';
import { Meter } from '../meter.ts';
import { presentValue, withoutNullFields } from '../nulls.ts';
import { assertTextLength } from '../plain-json.ts';
import { isVariableName } from '../runtime-scope.ts';
import { shallowSteps } from '../step-costs.ts';
import { helperTable, isTruthy, ownProperty, printable } from './template-helpers.ts';
import {
  isScoped,
  type Program,
  simpleName,
  type TemplateExpression,
  type TemplateStatement,
} from './template-syntax.ts';

interface Frame {
  readonly context: unknown;
  /** For `../`. */
  readonly parent: Frame | undefined;
  readonly params: ReadonlyMap<string, unknown>;
  /** `@index` and the like, of the innermost `each`. */
  readonly loop: Loop | undefined;
  readonly output: Output;
  readonly scope: Scope;
}

interface Loop {
  readonly values: Readonly<Record<string, unknown>>;
  readonly parent: Loop | undefined;
}

interface Output {
  text: string;
  readonly meter: Meter;
}

type Evaluate = (frame: Frame) => unknown;
type Render = (frame: Frame) => void | Promise<void>;

/** Compiles a checked template. */
export function compileTemplate(
  program: Program,
  tools: FunctionDependencies,
): (scope: Scope) => Promise<string> {
  const render = compileProgram(program, tools);
  return async (scope) => {
    const meter = new Meter(scope.budget, limits.templateSteps);
    const output: Output = { text: '', meter };
    const frame: Frame = {
      context: scope.root,
      parent: undefined,
      params: new Map(),
      loop: undefined,
      output,
      scope,
    };
    await render(frame);
    return output.text;
  };
}

function compileProgram(program: Program | undefined, tools: FunctionDependencies): Render {
  const parts = (program?.body ?? []).map((each) =>
    compileStatement(each as TemplateStatement, tools),
  );
  return async (frame) => {
    for (const render of parts) {
      frame.output.meter.spend(1);
      await render(frame);
    }
  };
}

function compileStatement(statement: TemplateStatement, tools: FunctionDependencies): Render {
  switch (statement.type) {
    case 'ContentStatement': {
      const { value } = statement as hbs.AST.ContentStatement;
      return ({ output }) => write(output, value);
    }
    case 'MustacheStatement': {
      const { path, params } = statement as hbs.AST.MustacheStatement;
      const evaluate = compileCall(path as TemplateExpression, params, tools);
      const place = describe(path as TemplateExpression);
      return (frame) =>
        write(frame.output, printable(place, present(evaluate(frame), place, frame)));
    }
    case 'BlockStatement':
      return compileBlock(statement as hbs.AST.BlockStatement, tools);
    default:
      return () => undefined;
  }
}

function write(output: Output, text: string): void {
  output.text += text;
  output.meter.allocate(text.length);
  assertTextLength(output.text.length);
}

/** `place`: the value as written. */
function present(value: unknown, place: string, { parent, scope }: Frame): unknown {
  if (value !== undefined && value !== null) return value;
  const [first = ''] = place.split('.');
  const isOfRoot = parent !== undefined && Object.hasOwn(scope.root, first);
  const hint = isOfRoot
    ? `; inside "each" and "with", names are fields of the element: write "@root.${place}"`
    : '';
  throw new ExpressionError('missing-value', `Missing value "${place}"${hint}`);
}

function describe(expression: TemplateExpression): string {
  switch (expression.type) {
    case 'PathExpression':
      return (expression as hbs.AST.PathExpression).original;
    case 'SubExpression':
      return describe((expression as hbs.AST.SubExpression).path);
    default:
      return 'a literal';
  }
}

function compileBlock(block: hbs.AST.BlockStatement, tools: FunctionDependencies): Render {
  const [param] = block.params;
  const value: Evaluate =
    param === undefined ? () => undefined : compileExpression(param as TemplateExpression, tools);
  const main = compileProgram(block.program, tools);
  const inverse = compileProgram(block.inverse, tools);
  const names = block.program?.blockParams ?? [];
  const includeZero = compileOption(block, 'includeZero', tools);
  const isTrue: (frame: Frame) => boolean = (frame) => {
    const tested = value(frame);
    return isTruthy(tested) || (tested === 0 && isTruthy(includeZero(frame)));
  };
  switch (simpleName(block.path)) {
    case 'if':
      return (frame) => (isTrue(frame) ? main(frame) : inverse(frame));
    case 'unless':
      return (frame) => (isTrue(frame) ? inverse(frame) : main(frame));
    case 'with':
      return (frame) => {
        const context = value(frame);
        if (!isTruthy(context) && context !== 0) return inverse(frame);
        return main(nested(frame, context, bindParams(names, [context], frame)));
      };
    default:
      return (frame) => {
        const found = value(frame);
        const list = Array.isArray(found) ? found : withoutNullFields(found);
        // Charged before the entries are created.
        frame.output.meter.spend(Array.isArray(list) ? list.length : shallowSteps(list));
        const entries = typeof list === 'object' && list !== null ? Object.entries(list) : [];
        if (entries.length === 0) return inverse(frame);
        return renderEach({ entries, hasKeys: !Array.isArray(list), names, main, frame });
      };
  }
}

interface Iteration {
  readonly entries: readonly (readonly [string, unknown])[];
  readonly hasKeys: boolean;
  /** Names of the block parameters. */
  readonly names: readonly string[];
  readonly main: Render;
  readonly frame: Frame;
}

/** Pauses only between elements, because a single helper takes little time. */
async function renderEach({ entries, hasKeys, names, main, frame }: Iteration): Promise<void> {
  const { budget } = frame.output.meter;
  for (const [index, [field, element]] of entries.entries()) {
    if (budget.shouldPause && index > 0) await budget.pause();
    const key = hasKeys ? field : index;
    const params = bindParams(names, [element, key], frame);
    const values = { index, key, first: index === 0, last: index === entries.length - 1 };
    await main({ ...nested(frame, element, params), loop: { values, parent: frame.loop } });
  }
}

function compileOption(
  block: hbs.AST.BlockStatement,
  name: string,
  tools: FunctionDependencies,
): Evaluate {
  const pair = block.hash?.pairs.find(({ key }) => key === name);
  return pair === undefined
    ? () => undefined
    : compileExpression(pair.value as TemplateExpression, tools);
}

function nested(frame: Frame, context: unknown, params: Frame['params']): Frame {
  return { ...frame, context, parent: frame, params };
}

function bindParams(
  names: readonly string[],
  values: readonly unknown[],
  { params }: Frame,
): Frame['params'] {
  if (names.length === 0) return params;
  return new Map([...params, ...names.map((name, index) => [name, values[index]] as const)]);
}

function compileCall(
  path: TemplateExpression,
  params: readonly hbs.AST.Expression[],
  tools: FunctionDependencies,
): Evaluate {
  const name = simpleName(path);
  const helper = name === undefined ? undefined : helperTable.get(name);
  if (helper === undefined) return compileExpression(path, tools);
  const args = params.map((param) => {
    const expression = param as TemplateExpression;
    return { evaluate: compileExpression(expression, tools), place: describe(expression) };
  });
  return (frame) => {
    const values = args.map(({ evaluate, place }) => {
      const value = evaluate(frame);
      return helper.takesMissing === true ? value : present(value, place, frame);
    });
    const { meter } = frame.output;
    const result = helper.run(values, { tools, meter });
    meter.spend(1);
    if (typeof result === 'string') meter.allocate(result.length);
    return result;
  };
}

function compileExpression(expression: TemplateExpression, tools: FunctionDependencies): Evaluate {
  switch (expression.type) {
    case 'PathExpression':
      return compilePath(expression as hbs.AST.PathExpression);
    case 'SubExpression': {
      const { path, params } = expression as hbs.AST.SubExpression;
      return compileCall(path, params, tools);
    }
    case 'StringLiteral':
    case 'NumberLiteral':
    case 'BooleanLiteral': {
      const { value } = expression as hbs.AST.StringLiteral;
      return () => value;
    }
    default:
      return () => undefined;
  }
}

function compilePath(path: hbs.AST.PathExpression): Evaluate {
  const { parts, depth } = path;
  const [first = '', ...rest] = parts;
  if (path.data) {
    if (first === 'root') return (frame) => follow(frame.scope.root, rest);
    return (frame) => {
      let loop = frame.loop;
      for (let level = 0; level < depth; level++) loop = loop?.parent;
      return follow(loop?.values[first], rest);
    };
  }
  if (depth === 0 && !isScoped(path)) {
    const variable = first.startsWith('$') ? first.slice(1) : '';
    if (isVariableName(variable)) return ({ scope }) => follow(scope[variable], rest);
    return ({ context, params }) =>
      params.has(first) ? follow(params.get(first), rest) : follow(context, parts);
  }
  return (frame) => {
    let target: Frame | undefined = frame;
    for (let level = 0; level < depth; level++) target = target?.parent;
    return follow(target?.context, parts);
  };
}

function follow(start: unknown, parts: readonly string[]): unknown {
  let value = start;
  for (const part of parts) value = ownProperty(value, part);
  return presentValue(value);
}
