interface NamedProgram {
  readonly file: string;
  /** Come before those of the user. @default none */
  readonly args?: readonly string[];
  /** Chromium is installed first. @default false */
  readonly needsBrowser?: boolean;
}

type NamedPrograms = Readonly<Record<string, NamedProgram>>;

/** What the npm scripts that take a name run: `npm run bench -- history`. The name '' is the default. */
export const namedPrograms: Readonly<Record<'build' | 'bench', NamedPrograms>> = {
  build: {
    '': { file: 'scripts/build.mjs' },
    playground: { file: 'scripts/build-playground.mjs' },
  },
  bench: {
    '': { file: 'bench/main.ts' },
    smoke: {
      file: 'bench/main.ts',
      args: [
        ...['--peers', 'raw-node,raw-same,go,go-conditions,homeostat'],
        ...['--n', '20', '--reps', '1', '--limit', '120', '--calm', '0.5'],
      ],
    },
    startup: { file: 'bench/startup.ts' },
    scale: { file: 'bench/scale.ts' },
    history: { file: 'bench/history.ts' },
    members: { file: 'bench/members/main.ts' },
    http: { file: 'bench/http.ts' },
    'hand-over': { file: 'bench/hand-over.ts' },
    isolation: { file: 'bench/isolation/main.ts' },
    sandbox: { file: 'bench/sandbox/main.ts' },
    conversion: { file: 'bench/conversion.ts' },
    console: { file: 'bench/console.ts', needsBrowser: true },
  },
};

/** The programs of `npm run generate`, in the order in which they depend on each other. */
export const generators: Readonly<Record<string, string>> = {
  schemas: 'scripts/generate-builtin-schemas.ts',
  'definition-schema': 'scripts/generate-definition-schema.ts',
  'definition-pages': 'scripts/generate-definition-pages.ts',
  metrics: 'scripts/generate-metrics-page.ts',
  messages: 'scripts/generate-messages-page.ts',
  functions: 'scripts/generate-functions-page.ts',
  dashboard: 'scripts/generate-dashboard.ts',
  sandbox: 'scripts/generate-sandbox-page.ts',
  'sandbox-columns': 'scripts/generate-sandbox-columns.ts',
  'sandbox-messages': 'scripts/generate-sandbox-messages.ts',
  'sandbox-types': 'scripts/generate-sandbox-types.ts',
  reliability: 'scripts/generate-reliability.ts',
  rules: 'scripts/generate-rules.ts',
  readmes: 'scripts/generate-readmes.ts',
  chart: 'scripts/generate-chart.ts',
  manifests: 'scripts/generate-manifests.ts',
};
