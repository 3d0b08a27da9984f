import { diagnosticLines } from '#check';
import type { Diagnostic } from '#definition';
import type { ParsedManifest } from '#runtime';
import type { Logger } from '#telemetry';
import type { Output } from './output.ts';
import { printDiagnostics } from './print-diagnostics.ts';

interface FindingsReporterOptions {
  readonly logger: Logger;
  /** The terminal. */
  readonly output: Output;
  /** Diagnostics that were printed before the start. */
  readonly printed: readonly Diagnostic[];
}

/** Reports errors of manifests: in the log and, on a terminal, with a code frame. */
export class FindingsReporter {
  readonly #options: FindingsReporterOptions;
  readonly #printed: Set<string>;
  /** Files with errors. */
  readonly #wrong = new Set<string>();

  constructor(options: FindingsReporterOptions) {
    this.#options = options;
    this.#printed = new Set(options.printed.map(keyOf));
  }

  report(findings: readonly ParsedManifest[]): void {
    for (const each of findings) {
      this.#log(each);
      this.#print(each);
    }
  }

  #log({ manifest: { file }, documents, diagnostics }: ParsedManifest): void {
    const { logger } = this.#options;
    const errors = diagnosticLines(diagnostics, 'error');
    const warnings = diagnosticLines(diagnostics, 'warning');
    const rejected = documents.filter(({ located }) => located === undefined).length;
    const wasWrong = this.#wrong.delete(file);
    if (errors.length > 0) {
      this.#wrong.add(file);
      const about = { file, definitions: Math.max(1, rejected), diagnostics: errors };
      logger.warn(about, 'File has errors, its definitions are rejected');
    } else if (wasWrong) logger.info({ file }, 'File has no errors any more');
    if (warnings.length > 0) logger.info({ file, diagnostics: warnings }, 'File has warnings');
  }

  #print({ manifest: { file, text }, diagnostics }: ParsedManifest): void {
    const { output } = this.#options;
    const news = diagnostics.filter((diagnostic) => !this.#printed.has(keyOf(diagnostic)));
    // Only once: an error that comes back later is reported again.
    for (const diagnostic of diagnostics) this.#printed.delete(keyOf(diagnostic));
    if (output.isTerminal && news.length > 0)
      printDiagnostics(diagnostics, [{ file, text }], output);
  }
}

function keyOf(diagnostic: Diagnostic): string {
  return JSON.stringify(diagnostic);
}
