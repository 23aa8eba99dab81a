//! What can be busy: software, NICs, the switch and disks, built as the description has them, with stragglers among them.

use crate::description::{Simulate, Way};
use crate::disks::Disks;
use crate::pipes::Pipes;

/// What can be busy.
pub struct Resources {
    pub client_software: Option<Pipes>,
    pub client_out: Pipes,
    pub client_in: Pipes,
    pub switch: Option<Pipes>,
    pub storage_in: Pipes,
    pub storage_software: Option<Pipes>,
    pub storage_out: Pipes,
    pub disks: Disks,
}

impl Resources {
    pub fn new(step: &Simulate) -> Self {
        let (clients, storage, trouble) = (&step.clients, &step.storage, &step.trouble);
        let slow = trouble.failed_nodes..trouble.failed_nodes + trouble.stragglers;
        let slowness = move |node: u32| if slow.contains(&node) { trouble.straggler_factor } else { 1.0 };
        let as_should_be = || (0..clients.count).map(|_| 1.0);
        let each_node = || (0..storage.nodes).map(&slowness);
        let each_disk =
            (0..storage.nodes * storage.disks_per_node).map(|disk| slowness(disk / storage.disks_per_node));
        Self {
            client_software: clients.most_requests_per_second.map(|rate| Pipes::new(1, rate, as_should_be())),
            client_out: Pipes::new(clients.nics, clients.nic_bytes_per_second, as_should_be()),
            client_in: Pipes::new(clients.nics, clients.nic_bytes_per_second, as_should_be()),
            switch: step.network.switch_bytes_per_second.map(|rate| Pipes::new(1, rate, [1.0].into_iter())),
            storage_in: Pipes::new(storage.nics, storage.nic_bytes_per_second, each_node()),
            storage_software: storage.most_requests_per_second.map(|rate| Pipes::new(1, rate, each_node())),
            storage_out: Pipes::new(storage.nics, storage.nic_bytes_per_second, each_node()),
            disks: Disks::new(&step.disk_curves(), each_disk),
        }
    }

    /// All that are there, in the order of a request's way.
    pub fn pipes(&self) -> impl Iterator<Item = (&'static str, &Pipes)> {
        [
            ("client_software", self.client_software.as_ref()),
            ("client_nic_out", Some(&self.client_out)),
            ("client_nic_in", Some(&self.client_in)),
            ("switch", self.switch.as_ref()),
            ("storage_nic_in", Some(&self.storage_in)),
            ("storage_software", self.storage_software.as_ref()),
            ("storage_nic_out", Some(&self.storage_out)),
        ]
        .into_iter()
        .filter_map(|(name, pipes)| Some((name, pipes?)))
    }
}

impl Simulate {
    /// Whether some requests read and some write.
    pub(crate) fn is_mixed(&self) -> bool {
        let share = self.load.share_of_reads();
        0.0 < share && share < 1.0
    }

    /// Of the kinds of requests that occur.
    fn disk_curves(&self) -> Vec<&[(u32, f64)]> {
        let (first, writes) = (self.storage.disk_rates.as_slice(), self.storage.disk_write_rates.as_slice());
        match self.load.direction {
            Way::Read | Way::Write => vec![first],
            Way::Mixed if self.is_mixed() => vec![first, writes],
            Way::Mixed if self.load.share_of_reads() == 0.0 => vec![writes],
            Way::Mixed => vec![first],
        }
    }
}
