import { httpKinds } from '#http-objects/kinds/index.ts';
import type { OwnController } from '#runtime';
import type { HttpRuntime, HttpRuntimeOptions } from './http-runtime.ts';

export interface HttpControllerOptions extends HttpRuntimeOptions {
  /** Whether the kinds are served without a definition that uses them. */
  readonly isAlwaysServed: boolean;
}

/** The controller of objects behind HTTP. Its modules are loaded when it runs. */
export function createHttpController({
  isAlwaysServed,
  ...options
}: HttpControllerOptions): OwnController {
  let running: HttpRuntime | undefined;
  return {
    kinds: httpKinds,
    isAlwaysServed,
    async run(signal) {
      const { HttpRuntime } = await import('./http-runtime.ts');
      running = new HttpRuntime(options);
      try {
        await running.run(signal);
      } finally {
        running = undefined;
      }
    },
    observe: () => running?.observe(),
  };
}
