import { builtinFunctions } from './builtin-functions.ts';
import type { Reference } from './leaf.ts';
import { followerOf } from './present/follow-calls.ts';
import { followedAs } from './present/follow-operators.ts';
import { isComposition, isMissingTest, reducingFunctions } from './reduced-values.ts';
import { createReferenceRecorder, type Origin } from './reference-recorder.ts';
import { isVariableName } from './runtime-scope.ts';
import {
  isDefaultOperator,
  isElvisOperator,
  leftOf,
  type SyntaxNode,
  type SyntaxPair,
  type SyntaxStage,
  unwrapTailCall,
  walk,
} from './syntax-tree.ts';
import { startOf, type Token } from './tokens.ts';

/** An abstract value: its possible origins, and its possible functions. */
interface AbstractValue {
  readonly origins: readonly Origin[];
  readonly callables: readonly Callable[];
}

type Callable =
  | { readonly kind: 'native'; readonly name: string; readonly offset: number }
  | { readonly kind: 'lambda'; readonly lambda: Lambda }
  /** The arguments are recorded as used completely. */
  | { readonly kind: 'opaque' };

interface Lambda {
  readonly node: SyntaxNode;
  readonly context: AbstractValue;
  readonly frame: Frame;
  isActive: boolean;
  isRecursive: boolean;
  hasEscaped: boolean;
}

interface Frame {
  readonly parent: Frame | undefined;
  readonly names: Map<string, AbstractValue>;
}

interface Place {
  /** The context value of names. */
  readonly context: AbstractValue;
  readonly frame: Frame;
}

const noValue: AbstractValue = { origins: [], callables: [] };
const visitBudget = 50_000;

/**
 * Finds all references of an expression by abstract interpretation, with origins instead of values. A value that it
 * cannot trace is recorded as used completely, so every read is at, below or on the way to a reference. Offsets are
 * relative to the source. The tree must not have been rewritten.
 */
export function findReferences(tree: SyntaxNode, tokens: readonly Token[]): readonly Reference[] {
  const recorder = createReferenceRecorder();
  /** What `%` means, by the label of the step that it is the parent of. */
  const parents = new Map<string, AbstractValue>();
  let visits = 0;
  let observedDefaults = 0;
  /** Above 0, all values that are used end in a hash. */
  let hashes = 0;
  /** Above 0, a time that is read is only compared. */
  let comparisons = 0;

  function offsetOf(node: SyntaxNode): number {
    return startOf(tokens, node.position);
  }

  function use(value: AbstractValue, exact = true): void {
    for (const origin of value.origins) recorder.record(origin, exact, hashes > 0);
    for (const callable of value.callables)
      if (callable.kind === 'lambda') exposeLambda(callable.lambda);
  }

  /** Records values of which only a hash, the number, or whether they are there or true is used. */
  function reduce(values: readonly AbstractValue[]): void {
    for (const { origins, callables } of values) {
      for (const origin of origins) recorder.record(origin, true, true);
      use({ origins: [], callables });
    }
  }

  /** Records a lambda that unknown code may call. */
  function exposeLambda(lambda: Lambda): void {
    if (lambda.hasEscaped) return;
    lambda.hasEscaped = true;
    use(callLambda(lambda, []));
  }

  function visit(node: SyntaxNode, place: Place): AbstractValue {
    if (++visits > visitBudget) {
      recorder.recordEverything(0);
      return noValue;
    }
    const value = filtered(visitBare(node, place), node.predicate, place.frame);
    return node.type !== 'path' && node.group !== undefined
      ? visitPairs(node.group.lhs, { ...place, context: value })
      : value;
  }

  function visitBare(node: SyntaxNode, place: Place): AbstractValue {
    switch (node.type) {
      case 'path':
        return visitPath(node, place);
      case 'name':
        return navigate(place.context, String(node.value), offsetOf(node));
      case 'variable':
        return visitVariable(node, place);
      case 'wildcard':
      case 'descendant':
        use(place.context, false);
        return noValue;
      case 'parent':
        return visitParent(node, place);
      case 'condition':
        return visitCondition(node, place);
      case 'block':
        return visitBlock(node, place);
      case 'bind':
        return visitBind(node, place);
      case 'lambda':
        return visitLambda(node, place);
      case 'function':
        return visitCall(node, place, []);
      case 'partial':
        return visitPartial(node, place);
      case 'apply':
        return visitApply(node, place);
      case 'unary':
        return visitUnary(node, place);
      case 'binary':
        return visitBinary(node, place);
      default:
        return noValue;
    }
  }

  function visitBinary(node: SyntaxNode, place: Place): AbstractValue {
    const operands = [leftOf(node), node.rhs].filter((each) => each !== undefined);
    const isTest = node.value === 'and' || node.value === 'or' || isMissingTest(node);
    const outside = comparisons;
    const followed = followedAs(node.value);
    if (followed === 'comparison') comparisons++;
    else if (followed === undefined) comparisons = 0;
    if (isTest) reduce(operands.map((each) => visit(each, place)));
    else useAll(operands, place);
    comparisons = outside;
    return noValue;
  }

  function visitParent(node: SyntaxNode, { context }: Place): AbstractValue {
    const parent = parents.get(node.slot?.label ?? '');
    if (parent !== undefined) return parent;
    use(context, false);
    recorder.recordEverything(offsetOf(node));
    return noValue;
  }

  /** The union of values. If one has no origin, its fields need not exist in the others. */
  function mixed(values: readonly AbstractValue[]): AbstractValue {
    const all = union(values);
    const isPure = values.every((value) => value.origins.length + value.callables.length > 0);
    return isPure ? all : { ...all, origins: all.origins.map(recorder.mix) };
  }

  function useAll(nodes: readonly (SyntaxNode | undefined)[], place: Place): void {
    for (const node of nodes) if (node !== undefined) use(visit(node, place));
  }

  function navigate(value: AbstractValue, name: string, offset: number): AbstractValue {
    return {
      origins: value.origins.map((origin) => recorder.step(origin, name, offset)),
      callables: [],
    };
  }

  function visitPath(node: SyntaxNode, place: Place): AbstractValue {
    const frame: Frame = { parent: place.frame, names: new Map() };
    let { context } = place;
    for (const step of node.steps ?? []) {
      if (step.type === 'sort') {
        for (const { expression } of step.terms ?? []) use(visit(expression, { context, frame }));
        context = filtered(context, step.stages, frame);
        continue;
      }
      const label = step.ancestor?.label;
      if (label !== undefined) parents.set(label, union([parents.get(label) ?? noValue, context]));
      const value = visit(step, { context, frame });
      if (step.index !== undefined) frame.names.set(step.index, noValue);
      if (step.focus === undefined) context = value;
      else frame.names.set(step.focus, value);
      // Predicates after `@$v` know `$v`, and their context is that of the step.
      context = filtered(context, step.stages, frame);
    }
    return node.group === undefined ? context : visitPairs(node.group.lhs, { context, frame });
  }

  function filtered(
    value: AbstractValue,
    stages: readonly SyntaxStage[] | undefined,
    frame: Frame,
  ): AbstractValue {
    for (const { type, expr, value: name } of stages ?? []) {
      if (type === 'index') frame.names.set(String(name), noValue);
      if (expr !== undefined) use(visit(expr, { context: value, frame }));
    }
    return value;
  }

  function visitPairs(pairs: readonly SyntaxPair[], place: Place): AbstractValue {
    for (const pair of pairs) useAll(pair, place);
    return noValue;
  }

  function visitUnary(node: SyntaxNode, place: Place): AbstractValue {
    if (Array.isArray(node.lhs)) return visitPairs(node.lhs, place);
    if (node.expressions !== undefined) {
      return mixed(node.expressions.map((expression) => visit(expression, place)));
    }
    useAll([node.expression], place);
    return noValue;
  }

  function visitCondition(node: SyntaxNode, place: Place): AbstractValue {
    const isDefault = isDefaultOperator(node);
    const isElvis = !isDefault && isElvisOperator(node);
    // The condition of `??` and `?:` is a copy of their result.
    if (!isDefault && !isElvis && node.condition !== undefined)
      reduce([visit(node.condition, place)]);
    const value = node.then === undefined ? noValue : visit(unwrapTailCall(node.then), place);
    // The test reads the fields of an object and the elements of a list.
    if (isElvis) use(value);
    if (node.else === undefined) return value;
    const isObserved = isDefault && value.origins.some(({ root }) => root === 'observed');
    if (isObserved) observedDefaults++;
    const fallback = visit(node.else, place);
    if (isObserved) observedDefaults--;
    return mixed([value, fallback]);
  }

  function visitBlock(node: SyntaxNode, { context, frame }: Place): AbstractValue {
    const inner: Place = { context, frame: { parent: frame, names: new Map() } };
    let last = noValue;
    for (const expression of node.expressions ?? []) last = visit(expression, inner);
    return last;
  }

  function visitBind(node: SyntaxNode, place: Place): AbstractValue {
    const value = node.rhs === undefined ? noValue : visit(node.rhs, place);
    const name = String(leftOf(node)?.value);
    const earlier = place.frame.names.get(name);
    place.frame.names.set(name, earlier === undefined ? value : mixed([earlier, value]));
    return value;
  }

  function visitVariable(node: SyntaxNode, place: Place): AbstractValue {
    const name = String(node.value);
    const offset = offsetOf(node);
    if (name === '') return place.context;
    const bound = lookUp(place.frame, name);
    if (bound !== undefined) return bound;
    if (name === '$') return originAt('root', offset);
    if (isVariableName(name)) return originAt(name === 'self' ? 'resource' : name, offset);
    const isDefault = observedDefaults > 0 ? ({ isObservedDefault: true } as const) : {};
    // `nextTime` without its last argument; {@link visitCallee} handles calls that have it.
    if (name === 'now' || name === 'millis' || name === 'nextTime')
      recorder.recordSource('now', offset, {
        ...isDefault,
        ...(comparisons > 0
          ? { isCompared: true }
          : hasComparison(tree) && { isNearComparison: true }),
      });
    else if (['random', 'randomString', 'shuffle'].includes(name))
      recorder.recordSource('random', offset, isDefault);
    return { origins: [], callables: [{ kind: 'native', name, offset }] };
  }

  function originAt(root: Origin['root'], offset: number): AbstractValue {
    const origin = recorder.begin({ root, path: [], offset, stepOffsets: [] });
    return { origins: [origin], callables: [] };
  }

  function visitLambda(node: SyntaxNode, place: Place): AbstractValue {
    if (node.thunk === true) return node.body === undefined ? noValue : visit(node.body, place);
    const lambda = { node, ...place, isActive: false, isRecursive: false, hasEscaped: false };
    return { origins: [], callables: [{ kind: 'lambda', lambda }] };
  }

  function callLambda(lambda: Lambda, args: readonly AbstractValue[]): AbstractValue {
    if (lambda.isActive) {
      lambda.isRecursive = true;
      for (const arg of args) use(arg, false);
      return noValue;
    }
    const names = new Map<string, AbstractValue>();
    for (const [index, parameter] of (lambda.node.arguments ?? []).entries()) {
      names.set(String(parameter.value), args[index] ?? noValue);
    }
    const { body } = lambda.node;
    if (body === undefined) return noValue;
    lambda.isActive = true;
    const result = visit(body, { context: lambda.context, frame: { parent: lambda.frame, names } });
    lambda.isActive = false;
    // The results of recursive calls were not traced but are part of this result.
    if (lambda.isRecursive) use(result, false);
    return result;
  }

  function visitCall(
    node: SyntaxNode,
    place: Place,
    before: readonly AbstractValue[],
  ): AbstractValue {
    const nodes = node.arguments ?? [];
    const callee = visitCallee(node.procedure, place, before.length + nodes.length);
    const isHash = isUnboundHash(node.procedure, place) && nodes.every(isComposition);
    if (isHash) hashes++;
    const outside = comparisons;
    // What other functions make of a time is not followed.
    if (!isFollowedCall(node.procedure, place)) comparisons = 0;
    const args = [...before, ...nodes.map((arg) => visit(arg, place))];
    comparisons = outside;
    if (isHash) hashes--;
    const written = [...before.map(() => undefined), ...nodes];
    return call(callee, args, { context: place.context, written });
  }

  function visitCallee(callee: SyntaxNode | undefined, place: Place, count: number): AbstractValue {
    if (callee === undefined) return noValue;
    const isTimeGiven =
      callee.type === 'variable' &&
      callee.value === 'nextTime' &&
      lookUp(place.frame, 'nextTime') === undefined &&
      count >= 3;
    if (!isTimeGiven) return visit(callee, place);
    const native = { kind: 'native', name: 'nextTime', offset: offsetOf(callee) } as const;
    return { origins: [], callables: [native] };
  }

  function isFollowedCall(callee: SyntaxNode | undefined, { frame }: Place): boolean {
    const name = callee?.type === 'variable' ? String(callee.value) : '';
    return followerOf(name) !== undefined && lookUp(frame, name) === undefined;
  }

  function isUnboundHash(callee: SyntaxNode | undefined, { frame }: Place): boolean {
    return (
      callee?.type === 'variable' && callee.value === 'hash' && lookUp(frame, 'hash') === undefined
    );
  }

  function visitPartial(node: SyntaxNode, place: Place): AbstractValue {
    useAll([node.procedure, ...(node.arguments ?? [])], place);
    return { origins: [], callables: [{ kind: 'opaque' }] };
  }

  function visitApply(node: SyntaxNode, place: Place): AbstractValue {
    const left = leftOf(node);
    const value = left === undefined ? noValue : visit(left, place);
    if (node.rhs === undefined) return value;
    if (node.rhs.type === 'function') return visitCall(node.rhs, place, [value]);
    const callee = visit(node.rhs, place);
    if (value.callables.length === 0) return call(callee, [value], { context: place.context });
    use(value);
    use(callee);
    return { origins: [], callables: [{ kind: 'opaque' }] };
  }

  interface CallDetails {
    readonly context: AbstractValue;
    /** The arguments as written in parentheses. */
    readonly written?: readonly (SyntaxNode | undefined)[];
  }

  function call(
    callee: AbstractValue,
    args: readonly AbstractValue[],
    details: CallDetails,
  ): AbstractValue {
    use({ origins: callee.origins, callables: [] });
    if (callee.callables.length === 0) for (const arg of args) use(arg, false);
    return union(
      callee.callables.map((callable) => {
        if (callable.kind === 'lambda') return callLambda(callable.lambda, args);
        if (callable.kind === 'native') return callNative(callable, args, details);
        for (const arg of args) use(arg, false);
        return noValue;
      }),
    );
  }

  function callNative(
    { name, offset }: { readonly name: string; readonly offset: number },
    given: readonly AbstractValue[],
    details: CallDetails,
  ): AbstractValue {
    const builtin = builtinFunctions.get(name);
    const fromContext = given.length < (builtin?.usesContextBelow ?? 0);
    const args = fromContext ? [details.context, ...given] : given;
    const [first = noValue, second = noValue] = args;
    switch (name) {
      case 'map':
        return call(second, [first, noValue, first], details);
      case 'filter':
      case 'single':
        use(call(second, [first, noValue, first], details));
        return first;
      case 'sort':
        if (given.length < 2) use(first);
        else use(call(second, [first, first], details));
        return first;
      case 'reduce':
        return callReduce(args, details);
      case 'lookup':
        if (!fromContext && details.written?.[1]?.type === 'string') {
          const [, key] = details.written;
          return navigate(first, String(key.value), offsetOf(key));
        }
        use(second);
        use(first, false);
        return noValue;
      case 'condition':
        use(second);
        return navigate(navigate(first, 'status', offset), 'conditions', offset);
      case 'clusterOf':
        return navigate(navigate(first, 'metadata', offset), 'name', offset);
      case 'each':
      case 'sift':
      case 'isReady':
        use(first, false);
        if (args.length > 1) use(call(second, [], details));
        return noValue;
      default:
        if (builtin?.gives === undefined || name === 'distinct' || name === 'clone') {
          if (reducingFunctions.has(name)) reduce(args);
          else for (const arg of args) use(arg);
          return noValue;
        }
        if (builtin.gives === 'all') return mixed(args);
        for (const arg of args.slice(1)) use(arg);
        return first;
    }
  }

  function callReduce(args: readonly AbstractValue[], details: CallDetails): AbstractValue {
    const [list = noValue, callee = noValue, initial = noValue] = args;
    // Without an initial value the first element is used.
    const isThere = ['string', 'number', 'value', 'unary'].includes(
      details.written?.[2]?.type ?? '',
    );
    const start = args.length < 3 ? list : initial;
    if (args.length > 2 && !isThere) use(list, false);
    const once = call(callee, [start, list, noValue, list], details);
    const twice = call(callee, [union([start, once]), list, noValue, list], details);
    // Further iterations only read below these results.
    use(once, false);
    use(twice, false);
    return union([start, once, twice]);
  }

  const root: Origin = { root: 'root', path: [], offset: -1, stepOffsets: [] };
  const place: Place = {
    context: { origins: [root], callables: [] },
    frame: { parent: undefined, names: new Map() },
  };
  use(visit(tree, place));
  return recorder.finish();
}

function lookUp(frame: Frame | undefined, name: string): AbstractValue | undefined {
  for (let each = frame; each !== undefined; each = each.parent) {
    const value = each.names.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

function union(values: readonly AbstractValue[]): AbstractValue {
  const [only] = values;
  if (only !== undefined && values.length === 1) return only;
  return {
    origins: [...new Set(values.flatMap(({ origins }) => origins))],
    callables: values.flatMap(({ callables }) => callables),
  };
}

function hasComparison(tree: SyntaxNode): boolean {
  return Iterator.from(walk(tree)).some(
    ({ type, value }) => type === 'binary' && followedAs(value) === 'comparison',
  );
}
