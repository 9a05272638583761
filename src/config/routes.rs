//! The tables of `askway.toml` that say who is asked:
//!
//! ```toml
//! [route.climb]
//! hops = [
//!   { to = "senders", timeout = "10m", total = "30m" },
//!   { to = "person:owner", timeout = "30m" },
//!   { to = "group:backup", timeout = "30m" },
//! ]
//! repeat = 3
//!
//! [group.backup]
//! people = ["ann", "bob"]
//! ```
//!
//! Here they are read; what a route may be is [`Plan`]'s to say. A faulty part has something sound
//! stand in for it, so that the rest is looked at all the same: with a fault nothing is used.

use super::Faults;
use super::file::{Node, Source};
use crate::ask::{
    Assurance, GroupName, PersonName, Plan, PlanHop, PlanPart, PlanTo, Plans, Span, limits,
};
use crate::cli::length_of_time;
use std::collections::BTreeMap;
use toml::de::DeTable;

/// Whom a hop may name.
const TO: &str = "sender, senders, person:NAME or group:NAME";

/// The people of each group.
type Groups = BTreeMap<GroupName, Vec<PersonName>>;

/// The routes of the file, where `route_timeout` is the time of a hop that names none. What is wrong
/// with them goes to `faults`.
pub(super) fn read(
    root: &DeTable<'_>,
    source: Source<'_>,
    route_timeout: Span,
    faults: &mut Faults,
) -> Plans {
    let mut reader = Reader { source, faults };
    let groups = reader.groups(root);
    let plans = reader.plans(root, &groups, route_timeout);
    Plans::new(plans, route_timeout)
}

struct Reader<'a> {
    source: Source<'a>,
    faults: &'a mut Faults,
}

impl Reader<'_> {
    fn plans(&mut self, root: &DeTable<'_>, groups: &Groups, route_timeout: Span) -> Vec<Plan> {
        let each = self.named(root, "route", limits::ROUTES);
        each.iter()
            .filter_map(|(name, plan)| self.plan(name, plan, groups, route_timeout))
            .collect()
    }

    /// One route; none where it is faulty.
    fn plan(
        &mut self,
        name: &str,
        plan: &Node<'_>,
        groups: &Groups,
        route_timeout: Span,
    ) -> Option<Plan> {
        let name = self.parsed(name, plan);
        self.knows(plan, &["hops", "repeat", "assurance"])?;
        let Some(hops) = plan.get("hops") else {
            self.fault(plan, format!("needs hops, a list of {{ to = … }}: {TO}"));
            return None;
        };
        let hops = self.items(&hops)?;
        let hops: Vec<_> = hops.iter().map(|hop| self.hop(hop, groups)).collect();
        // What is no number is out of range as zero is, and told so.
        let repeat = plan.get("repeat").map_or(1, |repeat| repeat.number().unwrap_or(0));
        let known: Vec<_> = hops.iter().map(Option::as_ref).collect();
        for fault in Plan::faults(&known, repeat) {
            let at = part(plan, fault.part).unwrap_or_else(|| plan.clone());
            self.fault(&at, fault.message);
        }
        let assurance = plan.get("assurance").and_then(|level| self.assurance(&level));
        let hops = hops.into_iter().collect::<Option<_>>()?;
        let plan = Plan::new(name?, hops, repeat, route_timeout).ok()?;
        Some(plan.demanding(assurance))
    }

    /// How surely a person's word must be theirs.
    fn assurance(&mut self, node: &Node<'_>) -> Option<Assurance> {
        match self.text(node)? {
            "local" => Some(Assurance::Local),
            "token" => Some(Assurance::Token),
            other => {
                self.fault(node, format!("must be local or token; it is `{other}`"));
                None
            }
        }
    }

    /// One hop; none where nobody can say whom it means.
    fn hop(&mut self, hop: &Node<'_>, groups: &Groups) -> Option<PlanHop> {
        self.knows(hop, &["to", "timeout", "total"])?;
        let timeout = hop.get("timeout").and_then(|timeout| self.length(&timeout));
        let total = hop.get("total").map_or(limits::SENDERS_TOTAL, |total| {
            self.length(&total).unwrap_or(limits::ROUTE_TIMEOUT_MAX)
        });
        let Some(to) = hop.get("to") else {
            self.fault(hop, format!("needs to, which is {TO}"));
            return None;
        };
        let to = self.to(&to, total, groups)?;
        if let (false, Some(total)) = (matches!(to, PlanTo::Senders { .. }), hop.get("total")) {
            self.fault(&total, "is for senders alone".to_owned());
        }
        Some(PlanHop { to, timeout })
    }

    fn to(&mut self, node: &Node<'_>, total: Span, groups: &Groups) -> Option<PlanTo> {
        let text = self.text(node)?;
        Some(match (text, text.split_once(':')) {
            ("sender", _) => PlanTo::Sender,
            ("senders", _) => PlanTo::Senders { total },
            (_, Some(("person", name))) => {
                PlanTo::Person(self.parsed(name, node).unwrap_or_else(PersonName::owner))
            }
            (_, Some(("group", name))) => self.group_of(name, node, groups),
            _ => {
                self.fault(node, format!("must be {TO}; it is `{text}`"));
                return None;
            }
        })
    }

    /// The group that `node` names.
    fn group_of(&mut self, name: &str, node: &Node<'_>, groups: &Groups) -> PlanTo {
        let group = name.parse().ok().and_then(|name| groups.get_key_value(&name));
        if let Some((name, people)) = group {
            return PlanTo::Group(name.clone(), people.clone());
        }
        let names: Vec<_> = groups.keys().map(GroupName::as_str).collect();
        let known = match names[..] {
            [] => "the file has none".to_owned(),
            _ => format!("groups are {}", names.join(", ")),
        };
        self.fault(node, format!("names no group of the file: `{name}`; {known}"));
        PlanTo::Person(PersonName::owner())
    }

    fn groups(&mut self, root: &DeTable<'_>) -> Groups {
        let mut groups = Groups::new();
        for (name, group) in self.named(root, "group", limits::GROUPS) {
            let name = self.parsed(name, &group);
            let people = self.people(&group).unwrap_or_else(|| vec![PersonName::owner()]);
            groups.extend(name.map(|name| (name, people)));
        }
        groups
    }

    /// The people of one group; none where they are not sound.
    fn people(&mut self, group: &Node<'_>) -> Option<Vec<PersonName>> {
        self.knows(group, &["people"])?;
        let Some(node) = group.get("people") else {
            self.fault(group, "needs people, a list of their names".to_owned());
            return None;
        };
        let items = self.items(&node)?;
        match items.len() {
            0 => self.fault(&node, "must name somebody: an ask would reach nobody".to_owned()),
            count => self.at_most(&node, count, limits::GROUP_PEOPLE),
        }
        let mut people: Vec<PersonName> = Vec::new();
        for item in items {
            match self.text(&item).and_then(|name| self.parsed(name, &item)) {
                Some(name) if people.contains(&name) => {
                    self.fault(&item, format!("names {name} again"));
                }
                name => people.extend(name),
            }
        }
        (!people.is_empty()).then_some(people)
    }

    /// The tables below `[name.…]`, at most `max`.
    fn named<'a>(
        &mut self,
        root: &'a DeTable<'a>,
        name: &str,
        max: usize,
    ) -> Vec<(&'a str, Node<'a>)> {
        let Some(node) = Node::of(root, name) else { return Vec::new() };
        let Some(entries) = node.entries() else {
            self.fault(&node, format!("must be tables, [{name}.NAME]"));
            return Vec::new();
        };
        self.at_most(&node, entries.len(), max);
        entries
    }

    /// Looks that `node` is a table with no other keys than these; none where it is no table.
    fn knows(&mut self, node: &Node<'_>, keys: &[&str]) -> Option<()> {
        let Some(entries) = node.entries() else {
            self.fault(node, format!("must be a table; its keys are {}", keys.join(", ")));
            return None;
        };
        for (_, other) in entries.iter().filter(|(name, _)| !keys.contains(name)) {
            self.fault(other, format!("is no key; keys are {}", keys.join(", ")));
        }
        Some(())
    }

    fn items<'a>(&mut self, node: &Node<'a>) -> Option<Vec<Node<'a>>> {
        let items = node.items();
        if items.is_none() {
            self.fault(node, "must be a list, in brackets".to_owned());
        }
        items
    }

    fn text<'a>(&mut self, node: &Node<'a>) -> Option<&'a str> {
        let text = node.text();
        if text.is_none() {
            self.fault(node, "must be a string, in quotes".to_owned());
        }
        text
    }

    /// A length of time; how long it may be is the plan's to say.
    fn length(&mut self, node: &Node<'_>) -> Option<Span> {
        let text = self.text(node)?;
        let length = length_of_time(text).ok().map(Span::from);
        if length.is_none() {
            let message = format!("must be a length of time, such as 15m or 2h; it is `{text}`");
            self.fault(node, message);
        }
        length
    }

    /// The name that `text` is, in `node`.
    fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
        &mut self,
        text: &str,
        node: &Node<'_>,
    ) -> Option<T> {
        let name = text.parse();
        name.map_err(|bad| self.fault(node, format!("the name {bad}; it is `{text}`"))).ok()
    }

    fn at_most(&mut self, node: &Node<'_>, count: usize, max: usize) {
        if count > max {
            self.fault(node, format!("has {count}, and at most {max} may be"));
        }
    }

    fn fault(&mut self, node: &Node<'_>, message: String) {
        self.faults.add(node.place(self.source), message);
    }
}

/// Where a part of a plan is written.
fn part<'a>(plan: &Node<'a>, part: PlanPart) -> Option<Node<'a>> {
    let hops = || plan.get("hops");
    let of_hop = |index: usize, name| hops()?.items()?.get(index)?.get(name);
    match part {
        PlanPart::Hops => hops(),
        PlanPart::To(hop) => of_hop(hop, "to"),
        PlanPart::Timeout(hop) => of_hop(hop, "timeout"),
        PlanPart::Total(hop) => of_hop(hop, "total"),
        PlanPart::Repeat => plan.get("repeat"),
    }
}
