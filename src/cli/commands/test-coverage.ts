import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DefinitionManifest } from '#check';
import { fileReason } from '#files';
import {
  CoverageCollector,
  coverageHtml,
  coverageLcov,
  coverageText,
  coveredPercent,
} from '#testing';
import { CliError } from '../exit-code.ts';
import type { Output } from '../output.ts';

export type CoverageFormat = 'text' | 'lcov' | 'html';

export interface CoverageOptions {
  /** Reports which expressions of the definitions the tests reach. @default 'text' if another of these options is given, else not measured */
  readonly coverage?: CoverageFormat;
  /** File for the coverage. @default text is printed; `coverage.info` for lcov, `coverage.html` for html */
  readonly coverageOutput?: string;
  /** The command fails if a smaller share is covered, in percent. @default 0 */
  readonly minCoverage?: number;
}

/** Measures the coverage of one run of tests. */
export interface CoverageRun {
  readonly collector: CoverageCollector;
  /** Definition files that were checked. */
  noteFiles(files: readonly DefinitionManifest[]): void;
  /** Prints or writes the coverage. Returns whether it is large enough. @throws CliError when the file cannot be written */
  report(output: Output): Promise<boolean>;
}

/** Undefined: the options do not ask for coverage. */
export function coverageOf({
  coverage,
  coverageOutput,
  minCoverage,
}: CoverageOptions): CoverageRun | undefined {
  if ([coverage, coverageOutput, minCoverage].every((option) => option === undefined))
    return undefined;
  const format = coverage ?? 'text';
  const collector = new CoverageCollector();
  const files = new Map<string, DefinitionManifest>();

  async function write(output: Output): Promise<void> {
    const { points } = collector;
    if (format === 'text' && coverageOutput === undefined) {
      for (const line of coverageText(points)) output.print(line);
      return;
    }
    const texts = {
      text: () => `${coverageText(points).join('\n')}\n`,
      lcov: () => coverageLcov(points),
      html: () => coverageHtml(points, [...files.values()]),
    };
    const file = coverageOutput ?? (format === 'html' ? 'coverage.html' : 'coverage.info');
    await writeText(file, texts[format]());
    output.print(`Coverage: ${coveredPercent(points)} %, written to ${file}`);
  }

  return {
    collector,
    noteFiles(noted) {
      for (const manifest of noted) files.set(manifest.file, manifest);
    },
    async report(output) {
      await write(output);
      const percent = coveredPercent(collector.points);
      const isCovered = percent >= (minCoverage ?? 0);
      if (!isCovered)
        output.error(`Expected a coverage of at least ${minCoverage} %, found ${percent} %`);
      return isCovered;
    },
  };
}

/** @throws CliError when the file cannot be written */
export async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new CliError(`Cannot write "${resolve(file)}": ${fileReason(error)}`, { cause: error });
  }
}
