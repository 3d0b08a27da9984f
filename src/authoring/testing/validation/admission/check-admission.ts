import { type CheckedDefinition, causesOf } from '#check';
import {
  type AdmissionRule,
  type Diagnostic,
  type Finding,
  type LocatedDefinition,
  locate,
} from '#definition';
import { type CelParser, createCelParser } from '#sandbox';
import type { JsonObject } from '#util/json.ts';
import type { CheckServer } from '../check-server.ts';
import { DefaultsCheck } from './check-defaults.ts';
import { problemOf, textAt } from './expression-problem.ts';
import { guardProblems } from './guard-problems.ts';
import { isUnsimulated, unsimulatedNames } from './unsimulated.ts';

const policiesPath = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

/** Checks the expressions of `admission`: what a server would not compile, and what would fail for an object without optional fields. */
export class AdmissionCheck {
  readonly #server: CheckServer;
  readonly #parse: CelParser = createCelParser();
  readonly #defaults = new DefaultsCheck();

  /** @param server compiles policies */
  constructor(server: CheckServer) {
    this.#server = server;
  }

  check({ located, plan }: CheckedDefinition): readonly Diagnostic[] {
    const { definition, source } = located;
    const inDefaults = this.#defaults.check({ located, resource: plan.resourceType });
    const inRules = (definition.admission?.rules ?? []).flatMap((rule, index) => {
      const path = `/spec/admission/rules/${index}/rule`;
      const found = this.#compileProblems(rule, textAt(located, path)) ?? [];
      const findings =
        found.length > 0 ? found : this.#guardProblems(rule, located, plan.resourceType, path);
      return findings.map((finding) => locate({ ...finding, path }, source));
    });
    return [...inDefaults, ...inRules];
  }

  /** As the server compiles the rule. */
  #compileProblems({ message }: AdmissionRule, text: string): readonly Problem[] {
    const { isAccepted, body } = this.#server.judge(policiesPath, policyWith(text, message));
    if (isAccepted) return [];
    const messages = causesOf(body)
      .filter(({ field }) => field.startsWith('spec.validations[0]'))
      .map((cause) => cause.message);
    const parsed = this.#parse(text);
    const names = 'problem' in parsed ? new Set<string>() : unsimulatedNames(parsed.node);
    return messages
      .map((problem) => problemOf(problem, text, 'rule'))
      .filter(({ message }) => !isUnsimulated(message, names));
  }

  #guardProblems(
    { operations }: AdmissionRule,
    located: LocatedDefinition,
    resource: CheckedDefinition['plan']['resourceType'],
    path: string,
  ): readonly Problem[] {
    const parsed = this.#parse(textAt(located, path));
    if ('problem' in parsed) return [];
    const isForeign = located.definition.kind.source === 'for';
    return guardProblems(parsed.node, { resource, operations, isForeign }).map(
      ({ offset, ...problem }) => ({ ...problem, at: offset }),
    );
  }
}

type Problem = Omit<Finding, 'path'>;

function policyWith(expression: string, message: string): JsonObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'rule' },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'] },
        ],
      },
      validations: [{ expression, message }],
    },
  };
}
