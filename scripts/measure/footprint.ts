import type { SourceFile } from './source-size.ts';

/** A rare feature of the engine. What it costs everybody else is its footprint: the files outside of its folder that know it. */
export interface Feature {
  readonly name: string;
  /** Its folders and files, from the room on. */
  readonly own: readonly string[];
  /** Names and paths in code that belong to it. */
  readonly names: RegExp;
  /** Most files outside that may know it. It only sinks: lower it with every file that no longer does. */
  readonly ceiling: number;
}

/** The features whose footprint a test limits (`test/unit/footprint.test.ts`). The target is 6 files for each. */
export const features: readonly Feature[] = [
  {
    name: 'members',
    own: ['reconcile/members/', 'runtime/members/'],
    // Not `remember`, `membership` and `replaced`.
    names: /(?:(?<![a-z])member|Member)(?!ship)|clusterOf|(?:(?<![a-z])place|Place)(?:d|ment)/,
    ceiling: 10,
  },
  {
    name: 'history',
    own: ['reconcile/history/'],
    names: /(?<![aA]ttempt-?)[hH]istory|context\.recorder\b/,
    ceiling: 6,
  },
  {
    name: 'patches',
    own: ['reconcile/patch/'],
    names: /\bpatches\b|\/patch\/|[pP]atchPlan|applyPatches|sendPatch/,
    ceiling: 1,
  },
  {
    name: 'deletion guard',
    own: ['reconcile/deletion-guard.ts', 'reconcile/preview/deletion-hold.ts'],
    names: /[dD]eletion-?[gG]uard|[dD]eletion-?[hH]old|[mM]axDeletions/,
    ceiling: 5,
  },
  {
    name: 'objects behind HTTP',
    own: ['kube/outbound/'],
    names: /http-objects|[hH]ttp(?:Object|Endpoint)|[oO]utbound/,
    ceiling: 2,
  },
  { name: 'preview', own: ['reconcile/preview/'], names: /[pP]review/, ceiling: 6 },
  { name: 'roll-out', own: ['runtime/rollout/'], names: /[rR]oll-?[oO]ut/, ceiling: 5 },
  {
    name: 'objects of a definition',
    own: ['runtime/install/', 'runtime/definitions/install-tasks.ts'],
    names:
      /\binstalls\b|[iI]nstall(?:ation|Task|View|Gvk|Definition)|hasInstall|notInstalled|\/install\/|\binstall[,:)}]|\.install\b/,
    ceiling: 6,
  },
  {
    // Its policies are managed as the objects of a definition are.
    name: 'admission rules',
    own: ['compile/admission/', 'runtime/install/', 'runtime/definitions/install-tasks.ts'],
    names:
      /admission(?:Part|['"?:])|'[a-zA-Z]*Admission|Admission(?:Failing|NotReady)|\.admission\b/,
    ceiling: 3,
  },
  {
    name: 'conversions',
    own: ['runtime/crd/conversion/'],
    names: /[cC]onversion(?:s\b|Target|\/)|[cC]aBundles|webhookRunner/,
    ceiling: 6,
  },
];

/** The rooms that run definitions in a cluster. */
const engineRooms = /^(?:kube|controller|reconcile|runtime)\//;

/** Whether a file belongs to a feature. */
export function isOwnFile({ own }: Feature, path: string): boolean {
  return own.some((part) => path.startsWith(part));
}

/** The files of the engine outside of a feature that import or name it; comments do not count. */
export function footprintOf(feature: Feature, sources: readonly SourceFile[]): readonly string[] {
  return sources
    .filter(({ path }) => engineRooms.test(path) && !isOwnFile(feature, path))
    .filter(({ text }) => feature.names.test(withoutComments(text)))
    .map(({ path }) => path);
}

/** Without the lines that are comments. */
export function withoutComments(text: string): string {
  return text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
}
