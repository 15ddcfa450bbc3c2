import type { ClusterMember, ClusterPlan } from './cluster-plan.js';

/**
 * What systemd is told beside the unit of Debian's `nats-server` package, which knows one configuration file in /etc and no store:
 * a file in `/etc/systemd/system/nats-server.service.d`.
 */
export function serviceDropIn(plan: ClusterPlan, member: ClusterMember): string {
  const store = plan.storeFolder(member);
  const state = /^\/var\/lib\/([\w.-]+)$/.exec(store)?.[1];
  return `# NATS server of '${member.name}' in the cluster '${plan.name}', made by svc-control cluster init.
[Unit]
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=
ExecStart=/usr/sbin/nats-server -c ${plan.serverFolder(member)}/nats-server.conf
${state === undefined ? `ReadWritePaths=${store}` : `StateDirectory=${state}\nStateDirectoryMode=0700`}
Restart=always
RestartSec=2
LimitNOFILE=65536
UMask=0077
NoNewPrivileges=true
ProtectSystem=strict
ProtectHome=true
PrivateDevices=true
ProtectKernelTunables=true
ProtectKernelModules=true
ProtectControlGroups=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictSUIDSGID=true
LockPersonality=true
`;
}
