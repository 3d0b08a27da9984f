/** Why a bench cannot be run. The message alone explains it; a stack would not help. */
export class BenchFailure extends Error {}
