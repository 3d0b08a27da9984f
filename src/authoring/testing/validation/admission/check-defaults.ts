import { type SchemaType, typeOfDefault } from '#compile';
import {
  type AdmissionDefault,
  type Diagnostic,
  defaultPathText,
  type Finding,
  type LocatedDefinition,
  locate,
} from '#definition';
import {
  type CelNode,
  type CelParser,
  createCelParser,
  createPolicyCompiler,
  type PolicyCompiler,
} from '#sandbox';
import { nodesIn } from './cel-nodes.ts';
import { problemOf, textAt } from './expression-problem.ts';
import { checkGuards, type RuleValue } from './guard-problems.ts';
import { isUnsimulated, unsimulatedNames } from './unsimulated.ts';
import { describeType, valueFits } from './value-fits.ts';

interface DefaultsContext {
  readonly located: LocatedDefinition;
  /** The type of the resource. */
  readonly resource: SchemaType | undefined;
}

type Problem = Omit<Finding, 'path'>;

const scope = {
  variables: undefined,
  hasParams: false,
  hasAuthorizer: true,
  hasPatchTypes: false,
};

/** Checks the values of `admission.defaults`: what a server would not compile, what may be missing, and what does not fit its field. */
export class DefaultsCheck {
  readonly #parse: CelParser = createCelParser();
  readonly #compiler: PolicyCompiler = createPolicyCompiler();

  check({ located, resource }: DefaultsContext): readonly Diagnostic[] {
    const defaults = located.definition.admission?.defaults ?? [];
    return defaults.flatMap((each, index) => {
      const path = `/spec/admission/defaults/${index}/value`;
      return this.#problems(each, textAt(located, path), { located, resource }).map((problem) =>
        locate({ ...problem, path }, located.source),
      );
    });
  }

  #problems(
    each: AdmissionDefault,
    text: string,
    { located, resource }: DefaultsContext,
  ): readonly Problem[] {
    const parsed = this.#parse(text);
    const compiled = this.#compiler.compile(text, scope);
    if (compiled.kind === 'invalid') {
      const problem = problemOf(compiled.problem, text, 'default');
      const names = 'problem' in parsed ? new Set<string>() : unsimulatedNames(parsed.node);
      return isUnsimulated(problem.message, names) ? [] : [problem];
    }
    if ('problem' in parsed) return [];
    const isForeign = located.definition.kind.source === 'for';
    const literal = isForeign ? undefined : literalProblem(each, parsed.node);
    if (literal !== undefined) return [literal];
    const { problems, result } = checkGuards(parsed.node, {
      resource,
      operations: ['Create', 'Update'],
      isForeign,
      isBeforeCompletion: true,
    });
    if (problems.length > 0)
      return problems.map(({ offset, ...problem }) => ({ ...problem, at: offset }));
    const celType = compiled.kind === 'program' ? compiled.type : 'dyn';
    return this.#typeProblems(each, { celType, result }, resource);
  }

  #typeProblems(
    each: AdmissionDefault,
    { celType, result }: { readonly celType: string; readonly result: RuleValue },
    resource: SchemaType | undefined,
  ): readonly Problem[] {
    const path = defaultPathText(each.steps);
    if (result.isOptional === true || celType.startsWith('optional_type'))
      return [
        {
          code: 'wrong-type',
          message: `The value for "${path}" is optional`,
          hint: 'Write "orValue(...)" at its end',
        },
      ];
    const wanted = typeOfDefault(each, resource);
    if (valueFits({ celType, schema: result.type }, wanted)) return [];
    const found = celType === 'dyn' ? describeType(result.type) : celType;
    return [
      {
        code: 'wrong-type',
        message: `Expected ${describeType(wanted)} for "${path}", found ${found}`,
      },
    ];
  }
}

/** A value that reads nothing. Labels and annotations have no schema that could have it. */
function literalProblem({ steps }: AdmissionDefault, node: CelNode): Problem | undefined {
  if (steps[0] === 'metadata' || readsSomething(node)) return undefined;
  return {
    code: 'invalid-value',
    message: `The value for "${defaultPathText(steps)}" is always the same: it belongs in the schema`,
    hint: `Write it as "default" at the field "${steps.at(-1) ?? ''}" of the schema`,
  };
}

function readsSomething(node: CelNode): boolean {
  return node.op === 'id' || nodesIn(node.args).some(readsSomething);
}
