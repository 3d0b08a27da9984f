/** How long this thread has worked, in ms: its CPU time, or that of the process where Node tells no more. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1_000;
}
