/** Starts to count. @returns how much time of processors this process has used since, in milliseconds, however busy the machine is */
export function processorTimer(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
}
