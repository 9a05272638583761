//! The example for Kubernetes says what this program takes: its containers are run as it says, with the
//! folders of a pod in a folder of this test.

use super::daemon::{ASKWAY, Said, first_line};
use super::replicas::cluster::Cluster;
use rcgen::{CertificateParams, KeyPair};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use yaml_rust2::{Yaml, YamlLoader};

const EXAMPLE: &str = include_str!("../../examples/kubernetes/askway.yaml");

/// The documents by their kinds.
fn document(kind: &str) -> Yaml {
    let all = YamlLoader::load_from_str(EXAMPLE).expect("it is YAML");
    let found = all.into_iter().find(|document| document["kind"].as_str() == Some(kind));
    found.unwrap_or_else(|| panic!("there is no {kind}"))
}

fn words(list: &Yaml) -> Vec<&str> {
    list.as_vec().expect("a list").iter().map(|word| word.as_str().expect("a word")).collect()
}

/// What a container runs, with the pod's folders in `pod`, and whatever port is free.
fn line(container: &Yaml, pod: &Path) -> Vec<String> {
    let here = |word: &str| {
        let pod = pod.display();
        let word = word.replace("/run/askway", &format!("{pod}/run"));
        word.replace("/etc/askway", &format!("{pod}/etc")).replace("0.0.0.0:7700", "0.0.0.0:0")
    };
    let args = container["args"].as_vec().map(|_| words(&container["args"])).unwrap_or_default();
    words(&container["command"]).into_iter().chain(args).map(here).collect()
}

#[test]
fn what_the_example_starts_serves_and_its_probes_are_answered() {
    let deployment = document("Deployment");
    let spec = &deployment["spec"]["template"]["spec"];
    let pod = tempfile::tempdir().expect("a folder");
    // A first daemon makes the tokens; the rest an operator has.
    let first = super::daemon::Daemon::start(&[]);
    let make = |name: &str, text: &str| {
        let path = pod.path().join("etc").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        fs::write(path, text).expect("it is written");
    };
    for token in ["owner.token", "host.token"] {
        let text = fs::read_to_string(first.data().join(token)).expect("it was made");
        make(&format!("tokens/{token}"), &text);
    }
    let key = KeyPair::generate().expect("a key");
    let cert = CertificateParams::new(vec!["askway".to_owned()]).expect("a name");
    make("tls/tls.crt", &cert.self_signed(&key).expect("a certificate").pem());
    make("tls/tls.key", &key.serialize_pem());
    fs::create_dir(pod.path().join("run")).expect("what is mounted");

    let own = line(&spec["initContainers"][0], pod.path());
    assert!(Command::new(&own[0]).args(&own[1..]).status().expect("a shell").success());
    let container = &spec["containers"][0];
    let serve = line(container, pod.path());
    assert_eq!(serve[0], "askway");
    let data = pod.path().join("run/data");
    let named = container["env"].as_vec().expect("a list").iter().map(|one| one["name"].as_str());
    assert!(named.eq([Some("ASKWAY_DATA"), Some("ASKWAY_STORE")]));
    let url = Cluster::shared().database("d");
    let run = |line: &[String]| {
        let mut command = Command::new(ASKWAY);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.args(&line[1..]).env_clear().env("PATH", path).stdin(Stdio::null());
        command.env("ASKWAY_DATA", &data).env("ASKWAY_STORE", &url);
        command
    };
    let mut serving = run(&serve).stdout(Stdio::piped()).spawn().expect("it starts");
    let said = first_line(serving.stdout.as_mut().expect("it is piped"));
    assert!(said.contains("askway serves on") && said.contains("https://"), "{said}");
    for probe in ["startupProbe", "readinessProbe"] {
        let asked: Vec<String> =
            words(&container[probe]["exec"]["command"]).into_iter().map(str::to_owned).collect();
        assert_eq!(asked[0], "askway");
        Said::by(&mut run(&asked)).ends(0);
    }
    super::daemon::signal(&serving, rustix::process::Signal::TERM);
    assert!(serving.wait().expect("it ends").success());
}

#[test]
fn what_belongs_together_in_the_example_has_one_name() {
    let (deployment, service) = (document("Deployment"), document("Service"));
    let budget = document("PodDisruptionBudget");
    let pods = &deployment["spec"]["template"]["metadata"]["labels"];
    assert_eq!(&deployment["spec"]["selector"]["matchLabels"], pods);
    assert_eq!(&service["spec"]["selector"], pods);
    assert_eq!(&budget["spec"]["selector"]["matchLabels"], pods);
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let port = &container["ports"][0]["name"];
    assert_eq!(&service["spec"]["ports"][0]["targetPort"], port);
    assert_eq!(&container["livenessProbe"]["tcpSocket"]["port"], port);
    let replicas = deployment["spec"]["replicas"].as_i64().expect("a number");
    assert!(budget["spec"]["maxUnavailable"].as_i64().is_some_and(|most| most < replicas));
    let volumes = deployment["spec"]["template"]["spec"]["volumes"].as_vec().expect("a list");
    let volumes: Vec<_> = volumes.iter().map(|volume| volume["name"].as_str()).collect();
    let spec = &deployment["spec"]["template"]["spec"];
    for container in [&spec["initContainers"][0], &spec["containers"][0]] {
        for mount in container["volumeMounts"].as_vec().expect("a list") {
            assert!(volumes.contains(&mount["name"].as_str()), "{mount:?}");
        }
    }
}
