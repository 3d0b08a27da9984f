import { didYouMean, nearestName } from '#util/did-you-mean.ts';
import type { LeafProblem } from '../leaf.ts';
import { isVariableName, variableNames } from '../runtime-scope.ts';
import { helperTable, type TemplateHelper } from './template-helpers.ts';
import {
  type BlockName,
  blockNames,
  isScoped,
  offsetOf,
  type Program,
  simpleName,
  type TemplateExpression,
  type TemplateStatement,
} from './template-syntax.ts';

/** Files for other programs, such as alert rules, have variables of their own. */
const literalHint = 'Write "\\{{" for a literal "{{"';
const dataNames = ['root', 'index', 'key', 'first', 'last'];

/** Finds unsupported Handlebars features: unknown helpers, partials, decorators. */
export function checkTemplate(program: Program, text: string): readonly LeafProblem[] {
  const problems: LeafProblem[] = [];

  function report(node: hbs.AST.Node, message: string, hint?: string): void {
    const offset = offsetOf(text, node.loc.start);
    const problem = { severity: 'error', code: 'template-syntax', message, offset } as const;
    problems.push(hint === undefined ? problem : { ...problem, hint });
  }

  function checkProgram(body: Program | undefined): void {
    for (const statement of body?.body ?? []) checkStatement(statement as TemplateStatement);
  }

  function checkStatement(statement: TemplateStatement): void {
    switch (statement.type) {
      case 'ContentStatement':
      case 'CommentStatement':
        return;
      case 'MustacheStatement': {
        const mustache = statement as hbs.AST.MustacheStatement;
        checkCall(mustache.path as TemplateExpression, mustache.params, mustache.hash);
        return;
      }
      case 'BlockStatement':
        checkBlock(statement as hbs.AST.BlockStatement);
        return;
      default:
        report(statement, 'Partials and decorators are not supported');
    }
  }

  function checkBlock(block: hbs.AST.BlockStatement): void {
    const name = simpleName(block.path);
    if (name === undefined || !blockNames.includes(name as BlockName)) {
      const hint = 'Supported blocks: "if", "unless", "each" and "with"';
      report(block.path, `Unknown block "${block.path.original}"`, hint);
    } else if (block.params.length !== 1) {
      report(block, `Expected one argument for the block "${name}"`);
    }
    const allowed = name === 'if' || name === 'unless' ? ['includeZero'] : [];
    checkHash(block.hash, allowed);
    checkExpressions(block.params);
    checkProgram(block.program);
    checkProgram(block.inverse);
  }

  function checkCall(
    path: TemplateExpression,
    params: readonly hbs.AST.Expression[],
    hash: hbs.AST.Hash | undefined,
  ): void {
    const name = simpleName(path);
    const helper = name === undefined ? undefined : helperTable.get(name);
    if (helper !== undefined) {
      checkCount(helper, params, path);
    } else if (params.length > 0) {
      const written =
        path.type === 'PathExpression' ? (path as hbs.AST.PathExpression).original : '';
      const hint = didYouMean(written, [...helperTable.keys(), ...blockNames]);
      report(path, `Unknown helper "${written}"`, hint);
    } else if (path.type === 'PathExpression') {
      checkPath(path as hbs.AST.PathExpression);
    } else {
      // Handlebars would look up a field of that name.
      report(path, 'Expected a name, found a literal');
    }
    checkHash(hash, []);
    checkExpressions(params);
  }

  function checkCount(
    { name, params }: TemplateHelper,
    given: readonly unknown[],
    node: hbs.AST.Node,
  ): void {
    const last = params.at(-1) ?? '';
    const most = last.endsWith('...') ? Number.POSITIVE_INFINITY : params.length;
    const least = last.endsWith('?') ? params.length - 1 : params.length;
    if (given.length >= least && given.length <= most) return;
    report(node, `Expected the arguments "${params.join(' ')}" for the helper "${name}"`);
  }

  function checkHash(hash: hbs.AST.Hash | undefined, allowed: readonly string[]): void {
    for (const pair of hash?.pairs ?? []) {
      if (!allowed.includes(pair.key)) report(pair, `Unknown option "${pair.key}"`);
      checkExpressions([pair.value]);
    }
  }

  function checkExpressions(expressions: readonly hbs.AST.Expression[]): void {
    for (const expression of expressions) checkExpression(expression as TemplateExpression);
  }

  function checkExpression(expression: TemplateExpression): void {
    if (expression.type === 'SubExpression') {
      const call = expression as hbs.AST.SubExpression;
      if (call.params.length === 0 && helperTable.get(simpleName(call.path) ?? '') === undefined) {
        report(call.path, `Unknown helper "${call.path.original}"`);
      } else {
        checkCall(call.path, call.params, call.hash);
      }
    } else if (expression.type === 'PathExpression') {
      checkPath(expression as hbs.AST.PathExpression);
    }
  }

  function checkPath(path: hbs.AST.PathExpression): void {
    const [first = ''] = path.parts;
    if (path.data && !dataNames.includes(first)) {
      report(
        path,
        `Unknown name "@${first}"`,
        `Supported names: ${dataNames.map((name) => `@${name}`).join(', ')}`,
      );
    }
    if (path.data || isScoped(path) || !first.startsWith('$') || isVariableName(first.slice(1))) {
      return;
    }
    const nearest = nearestName(first.slice(1), variableNames);
    report(path, `Unknown name "${first}"`, nearest ? `Did you mean "$${nearest}"?` : literalHint);
  }

  checkProgram(program);
  return problems;
}
