import {
  labelSelectorForms,
  requirementsOfAny,
  requirementsOfText,
} from '#util/any-label-selector.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { matchesRequirements } from '#util/label-selector.ts';
import { characterSteps, walkSteps } from '../step-costs.ts';
import { invalidArgument, textArgument, wrongArgument } from './arguments.ts';
import type { LanguageFunction } from './language-function.ts';

export const selectorFunctions: readonly LanguageFunction[] = [
  {
    name: 'selects',
    params: ['selector', 'object'],
    returns: 'boolean',
    doc: 'Whether a label selector (also a string: "a=b,c in (d,e)") matches an object or a map of labels',
    example: { source: '$selects("tier in (web,api)", { "tier": "web" })', gives: true },
    literals: {
      selector: (text) => (requirementsOfText(text) === undefined ? expectedSelector : undefined),
    },
    takesMissing: true,
    run: ([selector, object], { meter }) => {
      if (selector === undefined || object === undefined) return false;
      const steps =
        typeof selector === 'string'
          ? 4 * characterSteps(textArgument('selects', selector, 'the first argument'))
          : walkSteps(selector, meter.stepsLeft);
      meter.spend(steps);
      const requirements = requirementsOfAny(selector);
      if (requirements === undefined) {
        throw invalidArgument('selects', labelSelectorForms, 'the first argument');
      }
      const labels = labelsOf(object);
      meter.spend(walkSteps(labels, meter.stepsLeft));
      return matchesRequirements(requirements, texts(labels));
    },
  },
];

const expectedSelector = `Expected ${labelSelectorForms}`;

/** The labels of an object, which has metadata, or the map itself. */
function labelsOf(object: unknown): JsonObject {
  if (!isJsonObject(object)) {
    throw wrongArgument('selects', 'an object or a map of labels', object, 'the second argument');
  }
  if (!isJsonObject(object.metadata)) return object;
  return isJsonObject(object.metadata.labels) ? object.metadata.labels : {};
}

function texts(labels: JsonObject): Readonly<Record<string, string>> {
  const entries = Object.entries(labels).filter(([, value]) => value !== null);
  if (entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')) {
    return Object.fromEntries(entries);
  }
  throw invalidArgument('selects', 'an object or a map of labels', 'the second argument');
}
