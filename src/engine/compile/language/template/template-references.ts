import type { ElementPath, Reference } from '../leaf.ts';
import { createReferenceRecorder, type Origin } from '../reference-recorder.ts';
import { isVariableName } from '../runtime-scope.ts';
import {
  isScoped,
  offsetOf,
  type Program,
  simpleName,
  type TemplateExpression,
  type TemplateStatement,
} from './template-syntax.ts';

interface Place {
  /** The origin of `this`; undefined: it cannot be traced, but it is recorded completely. */
  readonly context: Origin | Element | undefined;
  readonly parent: Place | undefined;
  readonly params: ReadonlyMap<string, Origin | Element | undefined>;
}

/** An element of a list or a map, which is recorded completely. */
interface Element {
  readonly elementOf: Origin;
}

/** The references of a template, and the paths in the elements of what `each` visits. Offsets are relative to the template. */
export interface TemplateReferences {
  readonly references: readonly Reference[];
  readonly elementPaths: readonly ElementPath[];
}

/** Finds all references of a template. */
export function findTemplateReferences(program: Program, text: string): TemplateReferences {
  const recorder = createReferenceRecorder();
  const elementPaths: ElementPath[] = [];
  const root: Origin = { root: 'root', path: [], offset: -1, stepOffsets: [] };
  const top: Place = { context: root, parent: undefined, params: new Map() };

  function visitProgram(body: Program | undefined, place: Place): void {
    for (const statement of body?.body ?? []) visit(statement as TemplateStatement, place);
  }

  function visit(statement: TemplateStatement, place: Place): void {
    if (statement.type === 'MustacheStatement') {
      const { path, params } = statement as hbs.AST.MustacheStatement;
      use(visitCall(path as TemplateExpression, params, place));
    } else if (statement.type === 'BlockStatement') {
      visitBlock(statement as hbs.AST.BlockStatement, place);
    }
  }

  function visitBlock(block: hbs.AST.BlockStatement, place: Place): void {
    const [param] = block.params;
    const value =
      param === undefined ? undefined : visitExpression(param as TemplateExpression, place);
    for (const pair of block.hash?.pairs ?? []) {
      use(visitExpression(pair.value as TemplateExpression, place));
    }
    const name = simpleName(block.path);
    if (name === 'each') use(value, false);
    if (name === 'if' || name === 'unless') use(value, true, true);
    visitProgram(block.program, blockPlace(name, value, { block, place }));
    visitProgram(block.inverse, place);
  }

  function blockPlace(
    name: string | undefined,
    value: Origin | undefined,
    { block, place }: { readonly block: hbs.AST.BlockStatement; readonly place: Place },
  ): Place {
    if (name !== 'each' && name !== 'with') return place;
    const element = value === undefined ? undefined : { elementOf: value };
    const context = name === 'with' ? value : element;
    const params = new Map(place.params);
    for (const [index, param] of (block.program?.blockParams ?? []).entries()) {
      params.set(param, index === 0 ? context : undefined);
    }
    return { context, parent: place, params };
  }

  function visitCall(
    path: TemplateExpression,
    params: readonly hbs.AST.Expression[],
    place: Place,
  ): Origin | undefined {
    if (params.length === 0) return visitExpression(path, place);
    const args = params.map((param) => visitExpression(param as TemplateExpression, place));
    const [, key] = params;
    const [object] = args;
    if (simpleName(path) === 'lookup' && key?.type === 'StringLiteral' && object !== undefined) {
      const { value } = key as hbs.AST.StringLiteral;
      return recorder.step(object, value, offsetOf(text, key.loc.start));
    }
    const isTest = ['and', 'not', 'or'].includes(simpleName(path) ?? '');
    for (const arg of args) use(arg, false, isTest);
    return undefined;
  }

  function visitExpression(expression: TemplateExpression, place: Place): Origin | undefined {
    if (expression.type === 'SubExpression') {
      const { path, params } = expression as hbs.AST.SubExpression;
      return visitCall(path, params, place);
    }
    return expression.type === 'PathExpression'
      ? visitPath(expression as hbs.AST.PathExpression, place)
      : undefined;
  }

  function visitPath(path: hbs.AST.PathExpression, place: Place): Origin | undefined {
    const offset = offsetOf(text, path.loc.start);
    const { origin, parts } = startOfPath(path, place, offset);
    if (origin !== undefined && 'elementOf' in origin) {
      addElementPath(origin.elementOf, parts, offset);
      return undefined;
    }
    let current = origin;
    let position = Math.max(0, text.slice(offset).indexOf(parts[0] ?? ''));
    for (const part of parts) {
      if (current === undefined) return undefined;
      if (part === 'length' || /^\d+$/.test(part)) {
        use(current, part === 'length');
        return undefined;
      }
      const at = text.indexOf(part, offset + position);
      position = Math.max(position, at - offset);
      current = recorder.step(current, part, offset + position);
      position += part.length;
    }
    return current;
  }

  /** Up to what is no field: `length` and indexes. */
  function addElementPath({ root, path }: Origin, parts: readonly string[], offset: number): void {
    const end = parts.findIndex((part) => part === 'length' || /^\d+$/.test(part));
    const steps = end < 0 ? parts : parts.slice(0, end);
    if (root === 'root' || steps.length === 0) return;
    let position = offset;
    const stepOffsets = steps.map((step) => {
      const at = Math.max(position, text.indexOf(step, position));
      position = at + step.length;
      return at;
    });
    elementPaths.push({ of: { root, path }, path: steps, offset, stepOffsets });
  }

  function startOfPath(
    path: hbs.AST.PathExpression,
    place: Place,
    offset: number,
  ): { readonly origin: Origin | Element | undefined; readonly parts: readonly string[] } {
    const [first = '', ...rest] = path.parts;
    if (path.data) return { origin: first === 'root' ? root : undefined, parts: rest };
    if (path.depth === 0 && !isScoped(path)) {
      if (place.params.has(first)) return { origin: place.params.get(first), parts: rest };
      const variable = first.startsWith('$') ? first.slice(1) : '';
      if (isVariableName(variable)) {
        const name = variable === 'self' ? 'resource' : variable;
        return {
          origin: recorder.begin({ root: name, path: [], offset, stepOffsets: [] }),
          parts: rest,
        };
      }
    }
    let target: Place | undefined = place;
    for (let depth = 0; depth < path.depth; depth++) target = target?.parent;
    return { origin: target?.context, parts: path.parts };
  }

  function use(origin: Origin | undefined, exact = true, isReduced = false): void {
    if (origin !== undefined) recorder.record(origin, exact, isReduced);
  }

  visitProgram(program, top);
  return { references: recorder.finish(), elementPaths };
}
