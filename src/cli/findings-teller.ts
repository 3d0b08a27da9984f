import type { Diagnostic } from '../definition/index.ts';
import type { TextFindings } from '../runtime/index.ts';
import type { Logger } from '../telemetry/index.ts';
import type { Output } from './output.ts';
import { printDiagnostics } from './print-diagnostics.ts';

export interface FindingsTellerOptions {
  readonly logger: Logger;
  /** Where people look. */
  readonly output: Output;
  /** What was printed already: at the start, before anything was sent. */
  readonly printed: readonly Diagnostic[];
}

/** Tells of the mistakes in texts: in the log, since nobody sees the terminal of a Pod, and with a code frame where somebody looks. */
export class FindingsTeller {
  readonly #options: FindingsTellerOptions;
  readonly #printed: Set<string>;
  /** Files with errors. */
  readonly #wrong = new Set<string>();

  constructor(options: FindingsTellerOptions) {
    this.#options = options;
    this.#printed = new Set(options.printed.map(keyOf));
  }

  tell(findings: readonly TextFindings[]): void {
    for (const each of findings) {
      this.#log(each);
      this.#print(each);
    }
  }

  #log({ file, errors, warnings, refused }: TextFindings): void {
    const { logger } = this.#options;
    const wasWrong = this.#wrong.delete(file);
    if (errors.length > 0) {
      this.#wrong.add(file);
      const about = { file, definitions: Math.max(1, refused), diagnostics: errors };
      logger.warn(about, 'File with mistakes, its definitions are refused');
    } else if (wasWrong) logger.info({ file }, 'File is without mistakes again');
    if (warnings.length > 0) logger.info({ file, diagnostics: warnings }, 'File with warnings');
  }

  #print({ file, text, diagnostics }: TextFindings): void {
    const { output } = this.#options;
    const news = diagnostics.filter((diagnostic) => !this.#printed.has(keyOf(diagnostic)));
    // Once: what comes again later is news.
    for (const diagnostic of diagnostics) this.#printed.delete(keyOf(diagnostic));
    if (output.isWatched && news.length > 0)
      printDiagnostics(diagnostics, [{ file, text }], output);
  }
}

function keyOf(diagnostic: Diagnostic): string {
  return JSON.stringify(diagnostic);
}
