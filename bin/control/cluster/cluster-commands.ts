import type { Command } from 'commander';
import { type ControlProgram, homeOf } from '../control-program.js';
import { type AddFlags, addMembers, removeMember } from './change-cluster.js';
import { changeReplicas } from './change-replicas.js';
import { changeRoom, type RoomFlags } from './change-room.js';
import { clusterStatus, forgetNode } from './cluster-status.js';
import { initCluster, type InitFlags } from './init-cluster.js';
import { joinCluster, leaveCluster } from './join-cluster.js';

const several = (value: string, values: readonly string[] = []) => [...values, value];

/** Adds what makes several managers one (daemons-and-config.md 10). */
export function addClusterCommands(program: ControlProgram): void {
  const cluster = program.group('cluster', 'several managers as one: files for it, joining, leaving');
  program
    .withoutOperand(
      'init',
      'make the files of a new cluster: for each NATS server and each manager',
      (command) => initCluster(program.output, command.opts<InitFlags>(), new Date()),
      cluster,
    )
    .requiredOption('--name <name>', 'of the cluster')
    .option('--node <name=address>', 'a host with a manager and a NATS server, address[:port] (several times)', several)
    .option('--manager <name=address>', 'a host with a manager alone (several times)', several)
    .option('--server <name=address>', 'a host with a NATS server alone (several times)', several)
    .option('--port <port>', 'of the NATS servers; others of them use the one 2000 above', '4222')
    .option('--store-gib <number>', 'disk that a NATS server may use', '20')
    .option(
      '--server-folder <path>',
      "where the NATS server's files will lie on its host; {name} is its name",
      '/etc/nats',
    )
    .option(
      '--store-folder <path>',
      'where the NATS server will keep its data on its host; {name} is its name',
      '/var/lib/nats',
    )
    .option('--out <folder>', 'made for the files; it must not be there yet', 'cluster');
  addChanges(program, cluster);
  program.withOperand(
    'join <folder>',
    'make this manager one of the cluster whose "init" made the folder for it; agents and data stay',
    (folder: string, command) => joinCluster(program.suite(homeOf(command)), folder),
    cluster,
  );
  program.withoutOperand(
    'leave',
    'have this manager be by itself again; agents and data stay',
    (command) => leaveCluster(program.suite(homeOf(command))),
    cluster,
  );
  program.withoutOperand(
    'status',
    'show the managers of the cluster; exit code 1 when nothing that they have in common can be changed',
    (command) => clusterStatus(program.suite(homeOf(command)), Date.now()),
    cluster,
  );
  program.withOperand(
    'forget <name>',
    'have the cluster forget a manager that has left, or will not come back',
    (name: string, command) => forgetNode(program.suite(homeOf(command)), name),
    cluster,
  );
}

/** What is done later to the files that `init` made, and to the NATS servers. */
function addChanges(program: ControlProgram, cluster: Command): void {
  const folder = ['--folder <folder>', 'that "init" made', 'cluster'] as const;
  program
    .withoutOperand(
      'add',
      'make the files of further hosts, and change those of the others that tell of them',
      (command) => addMembers(program.output, command.opts<AddFlags>(), new Date()),
      cluster,
    )
    .option('--node <name=address>', 'a host with a manager and a NATS server, address[:port] (several times)', several)
    .option('--manager <name=address>', 'a host with a manager alone (several times)', several)
    .option('--server <name=address>', 'a host with a NATS server alone (several times)', several)
    .option('--port <port>', 'of the NATS servers', '4222')
    .option(...folder);
  program
    .withOperand(
      'remove <name>',
      'take a host out of the files of the others: its credential is worth nothing then',
      (name: string, command) => removeMember(program.output, name, command.opts<{ folder: string }>().folder),
      cluster,
    )
    .option(...folder);
  program
    .withOperand(
      'replicas <number>',
      'have the NATS servers keep so many copies of everything',
      (number: string, command) => changeReplicas(program.output, number, command.opts<{ folder: string }>().folder),
      cluster,
    )
    .option(...folder);
  program
    .withOperand(
      'room <gib>',
      'have each NATS server keep so much of what managers have in common',
      (gib: string, command) => changeRoom(program.output, gib, command.opts<RoomFlags>()),
      cluster,
    )
    .option('--of <what>', 'records, or files', 'records')
    .option(...folder);
}
