/** Name of the template; the same as that of the reference, so that a site's own changes to it stay. */
export const TEMPLATE_NAME = 'wazuh';
/** Put over one of a lower version. */
const VERSION = 1;

/** Fields of each type (indexer.md 2.5), as dotted paths; `{a,b}` stands for either. Strings without a place here become keywords. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  keyword: [
    'id location title command program_name previous_output input.type host offset',
    'agent.{id,name,ip} manager.name cluster.{name,node}',
    'rule.{id,description,groups,cve,info,cis,pci_dss,gdpr,gpg13,hipaa,nist_800_53,tsc} rule.mitre.{id,tactic,technique}',
    'decoder.{name,parent,ftscomment} predecoder.{program_name,timestamp,hostname}',
    'GeoLocation.{city_name,country_name,region_name,real_region_name,postal_code,ip}',
    'syscheck.{path,event,mode,hard_links,diff,tags}',
    'syscheck.{sha1,sha256,md5,uid,gid,perm,uname,gname,inode}_{before,after}',
    'syscheck.audit.{effective_user,group,login_user,user}.{id,name} syscheck.audit.process.{id,name,ppid}',
    'data.{protocol,action,srcip,dstip,srcport,dstport,srcuser,dstuser,id,data,extra_data,system_name,url,file,type}',
    'data.{command,integration,scan_id,title,uid}',
    'data.audit.{acct,arch,auid,command,cwd,dev,egid,euid,exe,exit,fsgid,fsuid,gid,id,key,list,op,pid,ppid,res,ses}',
    'data.audit.{session,sgid,srcip,subj,success,suid,syscall,tty,type,uid} data.audit.execve.{a0,a1,a2,a3}',
    'data.audit.{file,directory}.{inode,mode,name}',
    'data.sca.{type,scan_id,policy,policy_id,name,file,description,invalid,total_checks}',
    'data.sca.check.{id,title,description,rationale,remediation,references,file,directory,registry,process,result}',
    'data.sca.check.{previous_result,reason} data.sca.check.compliance.{cis,cis_csc,pci_dss,hipaa,nist_800_53}',
    'data.vulnerability.{cve,title,severity,status,rationale,reference,assigner,cve_version,cwe_reference}',
    'data.vulnerability.package.{name,version,architecture,source,condition,generated_cpe}',
    'data.vulnerability.cvss.cvss2.{base_score,exploitability_score,impact_score}',
    'data.vulnerability.cvss.cvss3.{base_score,exploitability_score,impact_score}',
    'data.vulnerability.cvss.{cvss2,cvss3}.vector.{access_complexity,attack_vector,authentication,availability}',
    'data.vulnerability.cvss.{cvss2,cvss3}.vector.{confidentiality_impact,integrity_impact,privileges_required,scope}',
    'data.vulnerability.cvss.{cvss2,cvss3}.vector.user_interaction data.vulnerability.scanner.reference',
    'data.virustotal.{description,error,found,malicious,permalink,positives,scan_date,sha1,total}',
    'data.virustotal.source.{alert_id,file,md5,sha1} data.YARA.scanned_file',
    'data.docker.{Action,Type,from} data.docker.Actor.Attributes.image',
    'data.github.{action,actor,org,repo} data.github.actor_location.country_code',
    'data.osquery.{name,pack,action,calendarTime} data.cis.{benchmark,group,result,rule_title,timestamp}',
    'data.office365.{Actor.ID,UserId,Operation,ClientIP,ResultStatus,Subscription}',
    'data.gcp.jsonPayload.{authAnswer,queryName,responseCode,vmInstanceId,vmInstanceName}',
    'data.gcp.resource.labels.{location,project_id,source_type} data.gcp.resource.type data.gcp.severity',
    'data.aws.{source,accountId,region} data.aws.log_info.s3bucket',
    'data.azureSignInStatus.{failureReason,additionalDetails}',
    'data.ms-graph.{id,category,severity,status,title,displayName,activityOperationType,activityResult,ipAddress}',
    'data.oscap.{scan,check}.{id,title} data.oscap.scan.{content,profile.id,profile.title} data.oscap.check.{result,severity}',
    'data.os.{architecture,build,codename,hostname,major,minor,name,patch,platform,release,release_version,sysname}',
    'data.os.version data.program.{architecture,description,format,install_time,location,multiarch,name,priority}',
    'data.program.{section,source,vendor,version}',
    'data.process.{name,state,cmd,args,euser,ruser,suser,egroup,rgroup,sgroup,fgroup}',
    'data.netinfo.iface.{name,adapter,type,state,mac} data.netinfo.iface.ipv{4,6}.{address,netmask,broadcast,dhcp,gateway}',
    'data.port.{protocol,state,process} data.hardware.{serial,cpu_name}',
  ],
  text: [
    'full_log previous_log message type @version GeoLocation.{continent_code,country_code2,country_code3,timezone}',
    'data.ms-graph.{description,actor.userPermissions} data.oscap.check.{description,identifiers,rationale,references}',
    'data_raw',
  ],
  long: [
    'rule.{level,frequency,firedtimes} decoder.{fts,accumulate} GeoLocation.{area_code,dma_code}',
    'syscheck.size_{before,after} data.sca.score data.cis.{score,pass,fail,error,notchecked,unknown}',
    'data.aws.{bytes,service.count} data.oscap.scan.return_code',
    'data.process.{pid,ppid,utime,stime,priority,nice,size,vm_size,resident,share,start_time,pgrp,session,nlwp,tgid,tty}',
    'data.process.processor data.port.{local_port,remote_port,tx_queue,rx_queue,inode,pid}',
    'data.netinfo.iface.{mtu,tx_packets,tx_bytes,tx_errors,tx_dropped,rx_packets,rx_bytes,rx_errors,rx_dropped}',
    'data.netinfo.iface.ipv{4,6}.metric data.hardware.{cpu_cores,ram_total,ram_free,ram_usage} data.program.size',
  ],
  integer: ['data.sca.{passed,failed} data.azureSignInStatus.errorCode data.ms-graph.deviceCount'],
  double: ['GeoLocation.{latitude,longitude,coordinates} data.oscap.scan.score data.hardware.cpu_mhz'],
  boolean: ['rule.mail'],
  ip: [
    'data.port.{local_ip,remote_ip} data.aws.{srcaddr,dstaddr,source_ip_address}',
    'data.aws.resource.instanceDetails.networkInterfaces.{privateIpAddress,publicIp}',
    'data.aws.service.action.networkConnectionAction.remoteIpDetails.ipAddressV4',
  ],
  geo_point: ['GeoLocation.location data.aws.service.action.networkConnectionAction.remoteIpDetails.geoLocation'],
  date: [
    '@timestamp data.timestamp data.vulnerability.{published,updated}',
    'data.aws.{start,end,createdAt,updatedAt,service.eventFirstSeen,service.eventLastSeen}',
    'data.aws.resource.instanceDetails.launchTime',
    'data.ms-graph.{createdDateTime,lastUpdateDateTime,firstActivityDateTime,lastActivityDateTime,resolvedDateTime}',
    'data.ms-graph.{activityDateTime,enrolledDateTime,lastSyncDateTime}',
  ],
};

const FORMATTED_DATES: readonly (readonly [paths: string, format: string])[] = [
  ['timestamp', 'date_optional_time||epoch_millis'],
  ['syscheck.mtime_{before,after}', 'date_optional_time'],
];

/** A field of a mapping, or an object of such. */
type Mapping = { type?: string; format?: string; properties?: Record<string, Mapping> };

/** The legacy template of alerts and archives (indexer.md 2.4), of our own making: `PUT /_template/wazuh`. */
export function indexTemplate(): { readonly version: number } & Readonly<Record<string, unknown>> {
  const properties: Record<string, Mapping> = {};
  for (const [type, all] of Object.entries(FIELDS)) {
    for (const path of expand(all.join(' '))) put(properties, path, { type });
  }
  for (const [paths, format] of FORMATTED_DATES) {
    for (const path of expand(paths)) put(properties, path, { type: 'date', format });
  }
  return {
    order: 0,
    version: VERSION,
    index_patterns: ['wazuh-alerts-4.x-*', 'wazuh-archives-4.x-*'],
    settings: {
      index: {
        refresh_interval: '5s',
        number_of_shards: '3',
        number_of_replicas: '0',
        auto_expand_replicas: '0-1',
        'mapping.total_fields.limit': 10_000,
        'query.default_field': expand([...(FIELDS['keyword'] ?? []), ...(FIELDS['text'] ?? [])].join(' ')),
      },
    },
    mappings: {
      date_detection: false,
      dynamic_templates: [{ string_as_keyword: { match_mapping_type: 'string', mapping: { type: 'keyword' } } }],
      properties,
    },
  };
}

function put(properties: Record<string, Mapping>, path: string, field: Mapping): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at = properties;
  for (const name of names) {
    const object = (at[name] ??= {});
    at = object.properties ??= {};
  }
  at[last] = field;
}

/** Words with their braces spelled out. */
function expand(words: string): string[] {
  return words.split(' ').flatMap(spellOut);
}

function spellOut(word: string): string[] {
  const [whole, before = '', choices = '', behind = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(word) ?? [];
  if (whole === undefined) return [word];
  return choices.split(',').flatMap((choice) => spellOut(behind).map((rest) => before + choice + rest));
}
