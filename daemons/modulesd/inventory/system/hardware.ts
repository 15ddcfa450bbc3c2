import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { count, known } from '../host/known.js';

/** Processor and memory of the host: table `hwinfo`. */
export function readHardware(files: HostFiles): InventoryRow[] {
  const cpu = files.text('/proc/cpuinfo');
  const memory = files.text('/proc/meminfo');
  return [hardwareRow(cpu, memory, files.line('/sys/class/dmi/id/board_serial'))];
}

/**
 * @param cpuinfo of proc(5)
 * @param meminfo of proc(5), kilobytes
 * @param serial of the board; empty when it is not known
 */
export function hardwareRow(cpuinfo: string, meminfo: string, serial: string): InventoryRow {
  const total = count(valueOf(meminfo, 'MemTotal').split(' ')[0]);
  const free = count((valueOf(meminfo, 'MemAvailable') || valueOf(meminfo, 'MemFree')).split(' ')[0]);
  const megahertz = Number.parseFloat(valueOf(cpuinfo, 'cpu MHz'));
  return {
    board_serial: known(serial),
    cpu_name: known(valueOf(cpuinfo, 'model name') || valueOf(cpuinfo, 'Model') || valueOf(cpuinfo, 'Hardware')),
    cpu_cores: cpuinfo.match(/^processor\s*:/gm)?.length ?? 0,
    cpu_mhz: Number.isFinite(megahertz) ? Math.round(megahertz) : 0,
    ram_total: total,
    ram_free: free,
    // As the reference rounds: the free part down.
    ram_usage: total === 0 ? 0 : 100 - Math.min(100, Math.floor((100 * free) / total)),
  };
}

/** The first value of this name; empty without one. */
function valueOf(text: string, name: string): string {
  const lines = `\n${text}`;
  const at = lines.indexOf(`\n${name}`);
  if (at < 0) return '';
  const end = lines.indexOf('\n', at + 1);
  const line = lines.slice(at + 1, end < 0 ? undefined : end);
  const rest = line.slice(name.length).trimStart();
  return rest.startsWith(':') ? rest.slice(1).trim() : '';
}
