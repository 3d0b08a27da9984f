import Range from 'semver/classes/range.js';
import compare from 'semver/functions/compare.js';
import parse from 'semver/functions/parse.js';
import { invalidArgument, shortArgument } from './arguments.ts';
import type { LanguageFunction } from './language-function.ts';

export const versionFunctions: readonly LanguageFunction[] = [
  {
    name: 'semver',
    params: ['version'],
    returns: 'object',
    doc: 'The parts of a semantic version: major, minor, patch, release (these three), prerelease, build',
    example: {
      source: '$semver("v1.29.3-rc.1")',
      gives: { major: 1, minor: 29, patch: 3, release: '1.29.3', prerelease: 'rc.1' },
    },
    literals: { version: versionReason },
    run: ([value], { meter }) => {
      meter.spend(versionSteps);
      const { major, minor, patch, prerelease, build } = versionOf('semver', value);
      return {
        major,
        minor,
        patch,
        release: `${major}.${minor}.${patch}`,
        ...(prerelease.length > 0 && { prerelease: prerelease.join('.') }),
        ...(build.length > 0 && { build: build.join('.') }),
      };
    },
  },
  {
    name: 'semverCompare',
    params: ['version', 'other'],
    returns: 'number',
    doc: 'Compares two semantic versions: -1 if the first one is lower, 1 if it is higher, else 0',
    example: { source: '$semverCompare("1.9.0", "1.10.0")', gives: -1 },
    literals: { version: versionReason, other: versionReason },
    run: ([a, b], { meter }) => {
      meter.spend(2 * versionSteps);
      if (b === undefined) return undefined;
      return compare(versionOf('semverCompare', a), versionOf('semverCompare', b));
    },
  },
  {
    name: 'semverMatches',
    params: ['version', 'range'],
    returns: 'boolean',
    doc: 'Whether the version is in the range (">=1.28 <2", "^1.2"); pre-releases only if the range names one',
    example: { source: '$semverMatches("1.29.3", ">=1.28 <2")', gives: true },
    literals: { version: versionReason, range: rangeReason },
    run: ([value, range], { meter }) => {
      const which = 'the second argument';
      const text = shortArgument('semverMatches', range, { most: longest, which });
      meter.spend(versionSteps + 64 * text.length);
      const version = versionOf('semverMatches', value);
      const found = rangeOf(text);
      if (found === undefined) {
        throw invalidArgument('semverMatches', 'a range such as ">=1.28 <2"', which);
      }
      return found.test(version);
    },
  },
];

/** Characters of a version or a range. */
const longest = 256;
const versionSteps = 50;

function versionOf(name: string, value: unknown) {
  const which = name === 'semver' ? 'the argument' : 'an argument';
  const version = parse(shortArgument(name, value, { most: longest, which }));
  if (version !== null) return version;
  throw invalidArgument(name, 'a semantic version such as "1.29.3"', which);
}

function rangeOf(text: string): Range | undefined {
  try {
    return new Range(text);
  } catch {
    // The message of the library repeats the range.
    return undefined;
  }
}

function versionReason(text: string): string | undefined {
  return parse(text) === null ? 'Expected a semantic version such as "1.29.3"' : undefined;
}

function rangeReason(text: string): string | undefined {
  const isValid = text.length <= longest && rangeOf(text) !== undefined;
  return isValid ? undefined : 'Expected a range of semantic versions such as ">=1.28 <2"';
}
