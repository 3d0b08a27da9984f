import { matchesGlob } from '#util/glob.ts';
import { limits } from '../limits.ts';
import { patternReason } from '../regex-engine.ts';
import { textSteps } from '../step-costs.ts';
import { invalidArgument, shortArgument, textArgument } from './arguments.ts';
import type { LanguageFunction } from './language-function.ts';

/** Comparisons of two characters in one step. */
const comparisonsPerStep = 128;

/** Patterns that may come from a value; JSONata's own functions only take literals. */
export const patternFunctions: readonly LanguageFunction[] = [
  {
    name: 'glob',
    params: ['text', 'glob'],
    returns: 'boolean',
    doc: 'Whether the whole string matches the pattern, in which "*" stands for any characters and "?" for one',
    example: { source: '$glob(spec.image, "ng*")', gives: true },
    run: ([value, pattern], { meter }) => {
      const text = textArgument('glob', value, 'the first argument');
      const glob = textArgument('glob', pattern, 'the second argument');
      // In the worst case, every character is compared with the pattern after the last "*".
      meter.spend(textSteps(text) + Math.ceil((text.length * glob.length) / comparisonsPerStep));
      return matchesGlob(text, [glob]);
    },
  },
  {
    name: 'matches',
    params: ['text', 'regex'],
    returns: 'boolean',
    doc: 'Whether a part of the string matches the regular expression in RE2 syntax, which is a string',
    example: { source: '$matches(spec.image, "^[a-z]+$")', gives: true },
    literals: { regex: patternReason },
    run: ([value, pattern], { meter, regexEngine }) => {
      const text = textArgument('matches', value, 'the first argument');
      const most = limits.patternLength;
      const regex = shortArgument('matches', pattern, { most, which: 'the second argument' });
      const isFound = regexEngine.test(regex, text, meter);
      if (isFound !== undefined) return isFound;
      throw invalidArgument('matches', 'a regular expression in RE2 syntax', 'the second argument');
    },
  },
];
