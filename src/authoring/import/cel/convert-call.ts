import type { CelNode } from '#sandbox';
import { didYouMean } from '#util/did-you-mean.ts';
import type { Call, CallRules } from './call.ts';
import { type CelContext, NoEquivalentError } from './cel-context.ts';
import { globalFunctions } from './functions.ts';
import type { Jsonata } from './jsonata.ts';
import { otherMethods } from './list-methods.ts';
import type { Convert } from './macros.ts';
import { textMethods } from './text-methods.ts';

const methods: CallRules = { ...textMethods, ...otherMethods };

/** Converts a call of a function or method that declares no variables. @throws NoEquivalentError */
export function convertCall(
  node: CelNode & { op: 'call' | 'rcall' },
  context: CelContext,
  convert: Convert,
): Jsonata {
  const { name, isMethod, argNodes } = partsOf(node, context);
  const rules = isMethod ? methods : globalFunctions;
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  if (rule === undefined) throw unknownFunction(name, node, rules);
  const call: Call = {
    name,
    args: argNodes.map((each) => convert(each, context)),
    node,
    context,
  };
  const result = rule(call);
  if (result !== undefined) return result;
  throw new NoEquivalentError(`"${name}" with these arguments has no equivalent`, offsetOf(node));
}

interface Parts {
  readonly name: string;
  readonly isMethod: boolean;
  readonly argNodes: readonly CelNode[];
}

/** `lists.range(n)` is a function, unless `lists` is a variable. */
function partsOf(node: CelNode & { op: 'call' | 'rcall' }, { variables }: CelContext): Parts {
  if (node.op === 'call') return { name: node.args[0], isMethod: false, argNodes: node.args[1] };
  const [name, target, args] = node.args;
  if (target.op === 'id' && !variables.has(target.args))
    return { name: `${target.args}.${name}`, isMethod: false, argNodes: args };
  return { name, isMethod: true, argNodes: [target, ...args] };
}

function unknownFunction(name: string, node: CelNode, rules: CallRules): NoEquivalentError {
  return new NoEquivalentError(
    `The function "${name}" has no equivalent`,
    offsetOf(node),
    didYouMean(name, Object.keys(rules)),
  );
}

/** Where the name of the function is. */
function offsetOf(node: CelNode): number {
  return node.op === 'rcall' ? node.args[1].end + 1 : node.start;
}
