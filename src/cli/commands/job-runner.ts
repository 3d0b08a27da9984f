import { checkedOnce, createManifestCheck } from '#check';
import { bundledSchemas } from '#compile';
import { assertNever } from '#util/homeostat-error.ts';
import type { CheckJob, CheckJobResult, CheckRunner } from '../check-jobs.ts';
import type { ConversionJob, ConversionJobResult, ConversionRunner } from './conversion-jobs.ts';
import type { FuzzJob, FuzzJobResult, FuzzRunner } from './fuzz-jobs.ts';
import type { TestJob, TestJobResult, TestRunner } from './test-jobs.ts';

/** Plain data, because jobs run in worker threads. */
export type Job = TestJob | ConversionJob | FuzzJob | CheckJob;
export type JobResult = TestJobResult | ConversionJobResult | FuzzJobResult | CheckJobResult;

/** Runs jobs. What definitions need is kept from one to the next. Modules are loaded with the first job that needs them. */
export class JobRunner {
  readonly #hasCoverage: boolean;
  #tests: Promise<TestRunner> | undefined;
  #conversions: Promise<ConversionRunner> | undefined;
  #fuzz: Promise<FuzzRunner> | undefined;
  #checks: Promise<CheckRunner> | undefined;

  constructor({ hasCoverage }: { readonly hasCoverage: boolean }) {
    this.#hasCoverage = hasCoverage;
  }

  /** @throws CliError when a file cannot be read. */
  async run(job: Job, signal?: AbortSignal): Promise<JobResult> {
    switch (job.kind) {
      case 'fuzz':
        this.#fuzz ??= loadFuzz();
        return (await this.#fuzz).run(job);
      case 'check':
        this.#checks ??= loadChecks();
        return (await this.#checks).run(job);
      case 'conversions':
        this.#conversions ??= loadConversions();
        return (await this.#conversions).run(job, signal);
      case 'test':
        this.#tests ??= loadTests(this.#hasCoverage);
        return (await this.#tests).run(job, signal);
      default:
        return assertNever(job);
    }
  }

  async close(): Promise<void> {
    (await this.#tests)?.close();
    (await this.#checks)?.close();
  }
}

async function loadTests(hasCoverage: boolean): Promise<TestRunner> {
  const { TestRunner } = await import('./test-jobs.ts');
  const { CoverageCollector } = await import('#testing');
  const coverage = new CoverageCollector();
  const files = hasCoverage ? coverage.files : undefined;
  const check = checkedOnce(createManifestCheck(bundledSchemas(), files));
  return new TestRunner({ check, coverage });
}

async function loadConversions(): Promise<ConversionRunner> {
  const { ConversionRunner } = await import('./conversion-jobs.ts');
  return new ConversionRunner(createManifestCheck(bundledSchemas()));
}

async function loadFuzz(): Promise<FuzzRunner> {
  const { FuzzRunner } = await import('./fuzz-jobs.ts');
  return new FuzzRunner(checkedOnce(createManifestCheck(bundledSchemas())));
}

async function loadChecks(): Promise<CheckRunner> {
  const { CheckRunner } = await import('../check-jobs.ts');
  return new CheckRunner();
}
